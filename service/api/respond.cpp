#include "service/api/respond.hpp"

#include <iterator>

#include "service/sign_in.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/job.hpp"

namespace nightjar::service::api {

std::string actor_of(const web::Principal& principal) {
  return principal.name.starts_with(person_prefix) ? principal.name : "token:" + principal.name;
}

web::Response database_failed(Context& context, const storage::Error& error) {
  const bool damaged = dynamic_cast<const storage::Damaged*>(&error) != nullptr;
  context.complaints.fails(damaged ? damage_seen : "requests", error.what());
  return web::problem(500, "Database failed",
                      "The database cannot be worked with; /readyz says why.");
}

web::Response Refused::response() const {
  auto response = web::problem(status_, title_, what());
  if (errors_.empty()) return response;
  auto body = nlohmann::ordered_json::parse(response.body);
  for (const FieldFault& error : errors_)
    body["errors"].push_back(
        error.parameter.empty()
            ? nlohmann::ordered_json{{"pointer", error.pointer}, {"detail", error.detail}}
            : nlohmann::ordered_json{{"parameter", error.parameter}, {"detail", error.detail}});
  response.body = body.dump();
  return response;
}

void refuse_unknown(std::string_view what, std::int64_t id) {
  throw Refused(404, "Not found",
                "There is no " + std::string(what) + " " + std::to_string(id) + ".");
}

web::Response json_answer(const nlohmann::json& body, unsigned status) {
  // What runners and trackers wrote need not be UTF-8.
  return web::json_response(body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                            status);
}

std::string cause_of(const std::exception& error) {
  const std::string what = error.what();
  const auto bracket = what.find("] ");
  return bracket == std::string::npos ? what : what.substr(bracket + 2);
}

Schema reason_schema() {
  return named("Reason", line_schema(longest_reason));
}

namespace {

void require_object(const web::Request& request, const nlohmann::json& body) {
  if (body.is_discarded() || !body.is_object())
    throw Refused(400, "Bad body", request.path + " needs a JSON object as its body.");
}

}  // namespace

nlohmann::json parse_object(const web::Request& request) {
  if (is_nested_deeper(request.body))
    throw Refused(400, "Bad body",
                  "The body of " + request.path + " has more than " +
                      std::to_string(deepest_nesting) + " levels of nesting.");
  auto body = nlohmann::json::parse(request.body, nullptr, false);
  require_object(request, body);
  return body;
}

nlohmann::json checked_body(const web::Request& request, const Schema& schema) {
  return checked(request, parse_object(request), schema);
}

nlohmann::json checked(const web::Request& request, nlohmann::json body, const Schema& schema) {
  require_object(request, body);
  auto faults = faults_of(body, schema);
  if (faults.empty()) {
    make_integers(body);
    make_lines(body);
    return body;
  }
  refuse_body(request, std::move(faults));
}

void make_lines(nlohmann::json& in) {
  if (in.is_string()) {
    auto& text = in.get_ref<std::string&>();
    text = one_line(text);
  } else if (in.is_array()) {
    for (auto& item : in) make_lines(item);
  } else if (in.is_object()) {
    for (auto member = in.begin(); member != in.end();) {
      make_lines(member.value());
      member = member.key() == one_line(member.key()) ? std::next(member) : in.erase(member);
    }
  }
}

void refuse_body(const web::Request& request, std::vector<FieldFault> faults) {
  const auto detail = "In the body of " + request.path + ", '" + faults.front().pointer.substr(1) +
                      "' " + faults.front().detail + ".";
  throw Refused(400, "Bad body", detail, std::move(faults));
}

}  // namespace nightjar::service::api
