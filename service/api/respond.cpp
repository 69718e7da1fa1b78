#include "service/api/respond.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "web/secret.hpp"

namespace nightjar::service::api {
namespace asio = boost::asio;
namespace {

void check_query(const web::Request& request, const std::vector<std::string>& known) {
  for (const auto& [name, value] : request.query)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Refused(400, "Unknown query parameter",
                    request.path + " has no query parameter '" + name + "'.");
}

constexpr int deepest_nesting = 64;

// nlohmann writes and copies JSON by recursion, so that deep nesting would end the process.
bool is_nested_deeper(std::string_view text, int most) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (c == '\\' && quoted) ++i;
    if (quoted) continue;
    if ((c == '[' || c == '{') && ++depth > most) return true;
    if (c == ']' || c == '}') --depth;
  }
  return false;
}

// Whatever goes wrong in a query becomes its answer.
web::Response query(Context& context, const Work& work, const web::Request& request) {
  try {
    const auto lease = context.readers.lease();
    return work(*lease, request);
  } catch (const storage::Error& error) {
    return database_failed(context, error);
  } catch (const Refused& refused) {
    return refused.response();
  } catch (const std::exception& error) {
    spdlog::error("a query failed path={} error=\"{}\"", request.path, error.what());
    return web::problem(500, "Internal error", "The query failed; the service's log says why.");
  }
}

web::Response for_client(const web::Request& request, const Cache::Answer& answer) {
  const auto wanted = request.header("if-none-match");
  if (!wanted || answer->status != 200) return *answer;
  for (const auto& [name, value] : answer->headers)
    if (name == "ETag" && value == *wanted) {
      web::Response unchanged;
      unchanged.status = 304;
      unchanged.headers = answer->headers;
      return unchanged;
    }
  return *answer;
}

void tag(web::Response& response) {
  if (response.status != 200) return;
  response.headers.emplace_back("ETag", "\"" + web::sha256(response.body).brief() + "\"");
  response.headers.emplace_back("Cache-Control", "no-cache");
}

// On the I/O thread, which only looks things up.
void read_kept(Context& context, const Work& work, const web::Request& request,
               const web::Respond& respond) {
  const auto ticket = context.cache.ticket(request);
  if (const auto answer = context.cache.find(ticket)) return respond(for_client(request, answer));
  const bool first = context.cache.join(ticket, [request, respond](const Cache::Answer& answer) {
    respond(for_client(request, answer));
  });
  if (!first) return;
  asio::post(context.read, [&context, work, request, ticket] {
    auto response = query(context, work, request);
    tag(response);
    asio::post(context.io, [&context, ticket, response = std::move(response)]() mutable {
      context.cache.put(ticket, std::move(response));
    });
  });
}

}  // namespace

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
    body["errors"].push_back({{"pointer", error.pointer}, {"detail", error.detail}});
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

nlohmann::json parse_object(const web::Request& request) {
  if (is_nested_deeper(request.body, deepest_nesting))
    throw Refused(400, "Bad body",
                  "The body of " + request.path + " has more than " +
                      std::to_string(deepest_nesting) + " levels of nesting.");
  auto body = nlohmann::json::parse(request.body, nullptr, false);
  if (body.is_discarded() || !body.is_object())
    throw Refused(400, "Bad body", request.path + " needs a JSON object as its body.");
  return body;
}

nlohmann::json parse_body(const web::Request& request, std::string_view operation_id) {
  auto body = parse_object(request);
  auto faults = faults_of(body, operation_id);
  if (faults.empty()) {
    make_integers(body);
    return body;
  }
  const auto detail = "In the body of " + request.path + ", '" + faults.front().pointer.substr(1) +
                      "' " + faults.front().detail + ".";
  throw Refused(400, "Bad body", detail, std::move(faults));
}

void add_read(web::Server& server, Context& context, std::string pattern,
              std::vector<std::string> known, Work work, Kept kept, web::Role role) {
  web::Route route;
  route.pattern = std::move(pattern);
  route.role = role;
  if (kept == Kept::never) route.executor = context.read;
  route.handler = [&context, known = std::move(known), work = std::move(work), kept](
                      const web::Request& request, web::Respond respond) {
    try {
      check_query(request, known);
    } catch (const Refused& refused) {
      return respond(refused.response());
    }
    if (kept == Kept::until_change)
      read_kept(context, work, request, respond);
    else
      respond(query(context, work, request));
  };
  server.add(std::move(route));
}

void add_write(web::Server& server, Context& context, std::string pattern, web::Role role,
               Work work, std::size_t body_limit, web::Method method) {
  web::Route route;
  route.method = method;
  route.pattern = std::move(pattern);
  route.role = role;
  route.executor = context.write;
  route.body_limit = body_limit;
  route.handler = [&context, work = std::move(work)](const web::Request& request,
                                                     web::Respond respond) {
    try {
      check_query(request, {});
      respond(work(context.writer, request));
    } catch (const Refused& refused) {
      respond(refused.response());
    } catch (const storage::Error& error) {
      respond(database_failed(context, error));
    } catch (const nlohmann::json::exception& error) {
      respond(web::problem(400, "Bad body", cause_of(error)));
    }
  };
  server.add(std::move(route));
}

}  // namespace nightjar::service::api
