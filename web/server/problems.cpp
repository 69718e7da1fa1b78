#include "web/server/problems.hpp"

#include <string>

namespace nightjar::web {

Response busy(std::string_view why) {
  auto response = problem(503, "Busy", why);
  response.headers.emplace_back("Retry-After", "5");
  return response;
}

std::optional<Response> head_problem(ReadOutcome head) {
  switch (head) {
    case ReadOutcome::ok:
      return std::nullopt;
    case ReadOutcome::head_too_large:
      return problem(431, "Head too large",
                     "The request line and headers exceed the limit, or there are more than 100 "
                     "header fields.");
    case ReadOutcome::unknown_coding:
      return problem(501, "Unknown transfer coding",
                     "Transfer-Encoding may only be chunked; send the body as it is.");
    case ReadOutcome::smuggled:
      return problem(400, "Unclear body",
                     "Give the body's length once: by one Content-Length, or by "
                     "Transfer-Encoding: chunked in HTTP/1.1.");
    default:
      return problem(400, "Malformed request", "The request is not well-formed HTTP.");
  }
}

std::optional<Response> body_problem(ReadOutcome body, const Request& request, std::size_t limit) {
  switch (body) {
    case ReadOutcome::ok:
      return std::nullopt;
    case ReadOutcome::stopped:
      return busy(request.path + " has no memory left for this body; try again later.");
    case ReadOutcome::body_too_large:
      return problem(413, "Body too large",
                     "The body is larger than the " + std::to_string(limit) + " bytes that " +
                         request.path + " accepts.");
    default:
      return problem(400, "Malformed body", "The body is not well-formed HTTP.");
  }
}

Response host_problem(std::string_view host) {
  return problem(421, "Unknown host",
                 "This service is not known as " + std::string(host) +
                     ". Ask it by its address, show a token, or name it in service.public_url or "
                     "service.host_names.");
}

Response answer_too_large(std::size_t bytes, std::size_t most, Account account) {
  std::string advice = "; ask for less, by `limit` or `fields`";
  if (account == Account::anonymous) advice += ", or show a token";
  return problem(403, "Answer too large",
                 "The answer has " + std::to_string(bytes) + " bytes, and at most " +
                     std::to_string(most) + " are sent to this client at once" + advice + ".");
}

std::string_view no_place() {
  static const std::string text = [] {
    const auto body =
        problem(503, "Too many connections",
                "No connection or no memory is left for this client; try again later.")
            .body;
    return "HTTP/1.1 503 Service Unavailable\r\nServer: nightjar\r\nRetry-After: 1\r\n"
           "Content-Type: application/problem+json\r\nConnection: close\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
  }();
  return text;
}

}  // namespace nightjar::web
