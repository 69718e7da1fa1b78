// What GitHub's REST API means by its answers: pure parts of GithubTracker, so that each is tested
// without a network.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "service/report/tracker.hpp"
#include "storage/model/time.hpp"

namespace nightjar::service {

// The URL of `rel="next"` in a Link header; nullopt: the last page. Empty if the header cannot be
// read, so nobody knows whether there is another page.
std::optional<std::string> next_page(const std::string& link_header);

// Classifies an answer other than 2xx. 403 and 429 with retry-after, with an exhausted
// x-ratelimit-remaining, or whose message mentions a rate limit: Transient until the time given.
// 401: Transient, since a token is replaced in its file. What may pass by itself (web::may_pass):
// Transient. The rest: Permanent. `what` is "method path".
std::variant<Transient, Permanent> failure_of(const std::string& what, unsigned status,
                                              const std::map<std::string, std::string>& headers,
                                              const std::string& body, Time now);

// Where a repository that was renamed or moved is now: the Location of a 301, 302, 307 or 308, if
// it is on the same `api`. nullopt: nowhere that the token may be sent to.
std::optional<std::string> moved_to(const std::string& api, unsigned status,
                                    const std::map<std::string, std::string>& headers);

// Percent-encodes all but unreserved characters.
std::string encoded(const std::string& text);

}  // namespace nightjar::service
