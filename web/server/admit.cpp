// Which requests get to a handler: well-formed, routed, and with a role that suffices.
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include "web/server/connection.hpp"
#include "web/server/problems.hpp"

namespace nightjar::web {
namespace asio = boost::asio;
namespace {

constexpr std::size_t most_parameters = 100;  // of a query; each costs more than on its way

Response unauthorized(std::string_view detail) {
  auto response = problem(401, "Unauthorized", detail);
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace

std::optional<Response> Connection::admit() {
  const auto& head = reader_.head();
  head_only_ = head.method == "HEAD";
  auto target = parse_target(head.target);
  if (!target)
    return problem(400, "Bad target", "The request target is no path with well-formed escapes.");
  if (target->query.size() > most_parameters)
    return problem(400, "Bad target", "The query has more than 100 parameters.");
  if (auto refused = refuse_host()) return refused;
  if (auto refused = refuse_stranger()) return refused;
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
  request_->method = *method;
  request_->path = std::move(target->path);
  request_->query = std::move(target->query);
  request_->parameters = std::move(match.parameters);
  return admit_role();
}

std::optional<Response> Connection::refuse_host() {
  const auto& head = reader_.head();
  const auto given = request_->header("host");
  auto host = given ? host_in(*given) : std::nullopt;
  if (!host && (given || !head.http_1_0))
    return problem(400, "Bad host", "The header Host is missing or names no host.");
  // RFC 9112, section 3.2.2: a target that is a URL says whom it is for, in place of Host.
  if (!head.target.starts_with('/')) {
    host = host_of(head.target);
    request_->headers["host"] = *host;  // which parse_target() has found
  }
  if (!host) return std::nullopt;
  // What a page may have a browser read without a token; whatever changes something needs a secret.
  const bool reads = head.method == "GET" || head.method == "HEAD";
  if (!reads || principal_ || state_->host_names.allow(*host)) return std::nullopt;
  return host_problem(*host);
}

std::optional<Response> Connection::refuse_stranger() const {
  const auto& head = reader_.head();
  if (!by_session_ || head.method == "GET" || head.method == "HEAD") return std::nullopt;
  const std::string& own = state_->config.sessions.origin;
  const auto site = request_->header("sec-fetch-site");
  if (request_->header("origin") == own && site.value_or("same-origin") == "same-origin")
    return std::nullopt;
  return problem(403, "Foreign page",
                 "Who is signed in changes something only from a page of " + own +
                     ". A program needs a token (Authorization: Bearer).");
}

std::optional<Response> Connection::admit_role() {
  const Role needed = endpoint_->route.role;
  if (needed == Role::none) return std::nullopt;
  if (!principal_) {
    const bool shown = request_->headers.contains("authorization");
    if (shown) return unauthorized("The token is not known here.");
    if (needed == Role::read && state_->config.open_reads) return std::nullopt;
    return unauthorized("This needs a token of role " + std::string(name_of(needed)) + ".");
  }
  if (!may_act_as(*principal_, needed))
    return problem(403, "Forbidden",
                   "This needs a token of role " + std::string(name_of(needed)) +
                       "; this one has role " + std::string(name_of(principal_->role)) +
                       ". A [[token]] of the service's configuration gives a role.");
  request_->principal = *principal_;
  return std::nullopt;
}

std::optional<Response> Connection::refuse_by_head() const {
  const Route& route = endpoint_->route;
  const bool fits = reader_.head().content_length.value_or(0) <= route.body_limit;
  return fits && route.refuse ? route.refuse(*request_) : std::nullopt;
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
    answer_by(route.handler, *request_, respond);
  else
    asio::post(*route.executor,
               [endpoint = endpoint_, request = request_, respond = std::move(respond)] {
                 answer_by(endpoint->route.handler, *request, respond);
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
  wake();
}

}  // namespace nightjar::web
