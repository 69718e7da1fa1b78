// The git program as a guarded child process: for what goes over the network. Reading is libgit2's
// work. Used by Repository only.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/guarded_child.hpp"

namespace nightjar::git {

using NetworkLimits = ChildLimits;  // of one fetch; a first one brings everything

struct GitOutcome {
  std::string failure;  // why it did not end well; empty: it did
  std::string output;   // of standard output
};

// Runs `git --git-dir=<repository> <arguments>` in a process group of its own, which is killed at a
// limit and when `stop` is requested. Its environment has `login`, too. It never prompts and reads
// no configuration but the repository's. `progress` gets each line of standard error, also those
// that git overwrites.
GitOutcome run_git(const std::filesystem::path& repository,
                   const std::vector<std::string>& arguments, const std::vector<std::string>& login,
                   const NetworkLimits& limits, std::stop_token stop,
                   const std::function<void(std::string_view)>& progress);

// `text` with the user name and password of each URL in it left out.
std::string without_credentials(std::string text);

}  // namespace nightjar::git
