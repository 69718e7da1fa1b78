#include "web/server/message.hpp"

#include "storage/base/log.hpp"
#include "storage/model/json.hpp"
#include "web/text.hpp"

namespace nightjar::web {

bool may_act_as(const Principal& principal, Role needed) {
  const Role role = principal.role;
  return role == needed || role == Role::admin || needed == Role::none ||
         (needed == Role::read && role != Role::none) ||
         (needed == Role::import && principal.imports) ||
         (needed == Role::runner && role == Role::builder);
}
namespace {

std::optional<std::string> find(const std::map<std::string, std::string>& map,
                                std::string_view name) {
  const auto found = map.find(std::string(name));
  if (found == map.end()) return std::nullopt;
  return found->second;
}

}  // namespace

std::string method_text(Method method) {
  if (method == Method::del) return "DELETE";
  std::string text(name_of(method));
  for (char& c : text) c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::optional<std::string> Request::header(std::string_view lower_case_name) const {
  return find(headers, lower_case_name);
}

std::optional<std::string> Request::query_value(std::string_view name) const {
  return find(query, name);
}

Response json_response(std::string body, unsigned status) {
  Response response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

Response problem(unsigned status, std::string_view title, std::string_view detail) {
  const nlohmann::ordered_json json = {
      {"type", "about:blank"}, {"title", title}, {"status", status}, {"detail", detail}};
  Response response;
  response.status = status;
  response.content_type = "application/problem+json";
  // A detail may quote what a client sent, which need not be UTF-8.
  response.body = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return response;
}

void answer_by(const Handler& handler, const Request& request, const Respond& respond) {
  std::string error = "unknown";
  try {
    handler(request, respond);
    return;
  } catch (const std::exception& exception) {
    error = exception.what();
  } catch (...) {
  }
  log::error("a handler failed path={} error=\"{}\"", request.path, error);
  respond(problem(500, "Internal error", "The request failed; the service's log says why."));
}

}  // namespace nightjar::web
