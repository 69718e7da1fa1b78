// What a program needs to talk to the service: its address, a token from a file, and what a refusal
// says. Used by `nightjar-runner` and by `nightjar import`.
#pragma once

#include <filesystem>
#include <string>

namespace nightjar::web {

// Without the slashes at its end. Throws std::invalid_argument unless it is an http:// or https://
// address.
std::string service_address(std::string url);
// The one word in `file`. Throws std::invalid_argument that names it.
std::string token_in(const std::filesystem::path& file);
// The detail of a problem+json, or the begin of whatever else came: one line, fit to be logged.
std::string problem_detail(const std::string& body);

}  // namespace nightjar::web
