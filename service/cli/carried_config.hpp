// Which of a repository's configuration its work trees elsewhere get: what decides how files are
// checked out and where missing objects come from. Pure functions; used by git_folder.hpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nightjar::cli {

struct ConfigEntry {
  std::string key;                   // section and name in lower case, as git prints them
  std::optional<std::string> value;  // nullopt: a name alone, which means true
  bool operator==(const ConfigEntry&) const = default;
};

// What `git config --list -z` printed.
std::vector<ConfigEntry> parse_config(std::string_view listed);

// The entries of `here` that a repository elsewhere does not see by itself (`elsewhere`) and may
// have. Left out is all that starts a program which a checkout does not need: gpg, hooks, pagers,
// diffs, aliases, commands of submodules. Relative paths in addresses start from `base`.
std::vector<ConfigEntry> carried(const std::vector<ConfigEntry>& here,
                                 const std::vector<ConfigEntry>& elsewhere,
                                 const std::filesystem::path& base);

// A file of configuration.
std::string config_text(const std::vector<ConfigEntry>& entries);

}  // namespace nightjar::cli
