// A program that does one thing over the network, under guard: time limits, no input, no terminal.
// Used for git's fetches and for resolving packages, on threads that may wait.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace nightjar {

struct ChildLimits {
  std::chrono::milliseconds total{7'200'000};
  std::chrono::milliseconds stall{120'000};  // without any output
  std::size_t output_bytes = 16 << 20;       // of standard output
  // Asked many times a second while it runs. A text ends it, and says why.
  std::function<std::string()> objection = {};
};

struct ChildOutcome {
  std::string stopped;      // why it was not started, or was killed; empty: it ended by itself
  bool is_missing = false;  // there is no such program
  int status = 0;           // as waitpid() has it, if it ended by itself
  std::string output;       // of standard output
  std::string said;         // the begin of standard error, its lines in one; at most 4 KB
  bool fine() const { return stopped.empty() && status == 0; }
  // Why `program` did not do what it should, for the end of a sentence.
  std::string failure(const std::string& program) const;
};

// Runs `command` with this environment in a process group of its own, which is killed at a limit
// and when `stop` is requested. `line` gets each line of standard error, also those that a program
// overwrites, made harmless and cut as LineSplitter does.
ChildOutcome run_guarded(const std::vector<std::string>& command,
                         const std::vector<std::string>& environment, const ChildLimits& limits,
                         std::stop_token stop,
                         const std::function<void(std::string_view)>& line = {});

// What a program needs of this process's environment to reach the network: PATH, HOME, proxies and
// certificates. Tokens are not passed on.
std::vector<std::string> network_environment();
// The environment for a program that must not know of this process or its user: PATH, and `home`
// for all that it keeps or has configured.
std::vector<std::string> private_environment(const std::string& home);

}  // namespace nightjar
