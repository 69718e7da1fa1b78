// What a server's headers say about coming back. Used by whoever asks a server again;
// GitHub's own limits are read by service/report/github_rest.hpp.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace nightjar::web {

// Retry-After in seconds, at most a day; nullopt if there is none, or if it is a date.
std::optional<std::chrono::seconds> retry_after(const std::map<std::string, std::string>& headers);

}  // namespace nightjar::web
