// Which requests get to a handler: well-formed, routed, and with a role that suffices.
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include "storage/base/log.hpp"
#include "web/server/connection.hpp"

namespace nightjar::web {
namespace asio = boost::asio;
namespace {

std::optional<Response> head_problem(ReadOutcome head) {
  switch (head) {
    case ReadOutcome::ok:
      return std::nullopt;
    case ReadOutcome::head_too_large:
      return problem(431, "Head too large", "The request line and headers exceed the limit.");
    default:
      return problem(400, "Malformed request", "The request is not well-formed HTTP.");
  }
}

std::optional<std::string_view> bearer_token(const Request& request) {
  const auto found = request.headers.find("authorization");
  if (found == request.headers.end()) return std::nullopt;
  const std::string_view value = found->second;
  if (value.size() < 7 || lower_case(value.substr(0, 7)) != "bearer ") return "";
  return value.substr(7);
}

Response unauthorized(std::string_view detail) {
  auto response = problem(401, "Unauthorized", detail);
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

void run_handler(const Handler& handler, const Request& request, const Respond& respond) {
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

}  // namespace

std::optional<Response> Connection::admit(ReadOutcome outcome) {
  if (auto refused = head_problem(outcome)) return refused;
  const auto& head = reader_.head();
  head_only_ = head.method == "HEAD";
  auto target = parse_target(head.target);
  if (!target)
    return problem(400, "Bad target", "The request target is no path with well-formed escapes.");
  const auto method = parse_method(head.method);
  auto match = state_->router.match(method, *target);
  if (!match.endpoint && match.allow.empty())
    return problem(404, "Not found", "There is nothing at " + target->path + ".");
  if (!match.endpoint) {
    auto refused = problem(405, "Method not allowed",
                           target->path + " does not serve this method but " + match.allow + ".");
    refused.headers.emplace_back("Allow", match.allow);
    return refused;
  }
  endpoint_ = std::move(match.endpoint);
  request_ = std::make_shared<Request>();
  request_->method = *method;
  request_->path = std::move(target->path);
  request_->query = std::move(target->query);
  request_->parameters = std::move(match.parameters);
  request_->headers = head.headers;
  request_->gone = std::make_shared<std::atomic<bool>>(false);
  return admit_role();
}

std::optional<Response> Connection::admit_role() {
  const Role needed = endpoint_->route.role;
  if (needed == Role::none) return count_client();
  const auto token = bearer_token(*request_);
  if (!token) {
    if (needed == Role::read && state_->config.open_reads) return count_client();
    return unauthorized("This needs a token of role " + std::string(name_of(needed)) + ".");
  }
  const auto& authenticate = state_->config.authenticate;
  auto principal = authenticate ? authenticate(*token) : std::nullopt;
  if (!principal) return unauthorized("The token is not known here.");
  if (!may_act_as(principal->role, needed))
    return problem(403, "Forbidden",
                   "This needs a token of role " + std::string(name_of(needed)) +
                       "; this one has role " + std::string(name_of(principal->role)) +
                       ". A [[token]] of the service's configuration gives a role.");
  request_->principal = *std::move(principal);
  forget_address();
  return std::nullopt;
}

void Connection::call_handler() {
  Respond respond = [weak = weak_from_this(), executor = state_->executor, sequence = sequence_,
                     request = request_](Response response) {
    asio::dispatch(executor, [weak, sequence, response = std::move(response)]() mutable {
      if (const auto self = weak.lock()) self->answer(sequence, std::move(response));
    });
  };
  const auto& route = endpoint_->route;
  if (!route.executor)
    run_handler(route.handler, *request_, respond);
  else
    asio::post(*route.executor,
               [endpoint = endpoint_, request = request_, respond = std::move(respond)] {
                 run_handler(endpoint->route.handler, *request, respond);
               });
  if (!answered_) watch_client();
}

void Connection::call_judge() {
  const Route::Verdict verdict = [weak = weak_from_this(), executor = state_->executor,
                                  sequence = sequence_](std::optional<Response> refused) {
    asio::dispatch(executor, [weak, sequence, refused = std::move(refused)]() mutable {
      if (const auto self = weak.lock()) self->take_verdict(sequence, std::move(refused));
    });
  };
  endpoint_->route.judge(request_, verdict);
}

void Connection::take_verdict(std::uint64_t sequence, std::optional<Response> refused) {
  if (sequence != sequence_ || answered_) return;
  answered_ = true;
  verdict_ = std::move(refused);
  wake();
}

void Connection::answer(std::uint64_t sequence, Response response) {
  if (sequence != sequence_ || answered_) return;
  answered_ = true;
  response_ = std::move(response);
  limit_answer();
  wake();
}

}  // namespace nightjar::web
