// The git program as a guarded child process. Whoever asks git asks it here: the service for what
// goes over the network, `nightjar bisect run` for all. git_options() are for the builder, too.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/guarded_child.hpp"

namespace nightjar::git {

using NetworkLimits = ChildLimits;  // of one fetch; a first one brings everything

// Options before git's command, by which neither a user nor a repository changes what git answers
// or makes it start a program on the side: a pager, a hook, a watcher of files, gpg.
std::vector<std::string> git_options();

// True if a variable of this name tells git which repository, index, objects or configuration are
// meant. Hooks, aliases and `git rebase --exec` hand such variables on to all that they start.
bool is_about_repository(std::string_view variable);

struct GitCall {
  std::vector<std::string> place;        // "-C" with a folder, or "--git-dir=…"
  std::vector<std::string> arguments;    // the command first
  std::vector<std::string> environment;  // NAME=value; what is_about_repository() is left out
  ChildLimits limits = {};
  std::vector<std::string> own = {};  // as `environment`, of ours: nothing is left out
};

struct GitOutcome {
  std::string failure;           // why it did not end well; empty: it did
  std::string output;            // of standard output
  std::string said;              // the begin of standard error in one line, warnings included
  std::optional<int> exit_code;  // nullopt: it was killed, or never started
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

// Runs git in a process group of its own, which is killed at a limit and when `stop` is requested.
// It speaks English, never prompts and copies no template. `progress` gets each line of standard
// error, also those that git overwrites. No login of an address is in what is passed on of these
// lines.
GitOutcome run_git(const GitCall& call, std::stop_token stop,
                   const std::function<void(std::string_view)>& progress = {});

}  // namespace nightjar::git
