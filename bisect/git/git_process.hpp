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

// What git says on standard error: progress, and at the end why it failed. Much of it the remote
// writes.
class GitWords {
 public:
  void hear(std::string_view line);  // as LineSplitter makes it
  // Why git failed, in one short line; empty if it did not.
  std::string failure_of(const ChildOutcome& ended) const;

 private:
  std::string with_cause(std::string_view fatal) const;

  std::string last_, fatal_;
};

// Runs `git --git-dir=<repository> <arguments>` in a process group of its own, which is killed at a
// limit and when `stop` is requested. Its environment has `login`, too. It never prompts, follows
// no redirect, and reads no configuration but the repository's. `progress` gets each line of
// standard error, also those that git overwrites. No login of an address is in what is passed on of
// these lines.
GitOutcome run_git(const std::filesystem::path& repository,
                   const std::vector<std::string>& arguments, const std::vector<std::string>& login,
                   const NetworkLimits& limits, std::stop_token stop,
                   const std::function<void(std::string_view)>& progress);

}  // namespace nightjar::git
