// What a request is told that is refused before a handler sees it. Internal to web.
#pragma once

#include <optional>
#include <string_view>

#include "web/server/request_reader.hpp"
#include "web/server/server.hpp"

namespace nightjar::web {

Response busy(std::string_view why);
// nullopt: the head, or the body, is as it should be.
std::optional<Response> head_problem(ReadOutcome head);
std::optional<Response> body_problem(ReadOutcome body, const Request& request, std::size_t limit);
Response host_problem(std::string_view host);
// Refuses an answer of `bytes` to a client that may have at most `most` in memory.
Response answer_too_large(std::size_t bytes, std::size_t most, Account account);
// A whole response as it is sent, for a connection that is closed at once.
std::string_view no_place();

}  // namespace nightjar::web
