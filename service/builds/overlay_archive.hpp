// The tar archive of an overlay. It says itself which paths are removed, so that its hash names the
// whole of what it does. Used by overlay.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace nightjar::service {

// The first member of an archive that removes something: a path a line.
inline constexpr const char* removed_member = "nightjar-overlay/removed";

// `files`: path and content, sorted by path. The same arguments give the same bytes. Throws
// std::runtime_error with the path.
void write_overlay(const std::filesystem::path& to,
                   const std::vector<std::pair<std::string, std::string>>& files,
                   const std::vector<std::string>& removed);
std::vector<std::string> removed_by(const std::filesystem::path& overlay);

}  // namespace nightjar::service
