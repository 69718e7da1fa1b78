// One child process under guard: own session, time-out, memory and output limits, pinning, and a
// pipe on file descriptor 3 for what it reports. All that it forks ends with it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "runner/process/confinement.hpp"

namespace nightjar::runner {

struct ProcessSpec {
  std::vector<std::string> command;                // [0] is looked up in this process's PATH
  std::map<std::string, std::string> environment;  // all of it: nothing is inherited
  std::filesystem::path folder;                    // working directory; empty: this one's
  std::string input;                               // to stdin, then closed
  double timeout_seconds = 300;
  // Limit of the process with its descendants, checked every 50 ms; 0: no limit. A build never gets
  // more than budget_of() leaves it.
  std::int64_t memory_bytes = 0;
  // Whether the kernel, where it can, counts what this check misses. Entering its group takes a
  // process up to 13 ms, which is longer than a short measure.
  bool memory_group = true;
  std::int64_t output_bytes = 1 << 20;  // of stdout and stderr together
  std::filesystem::path log;  // not empty: gets all of the output; the result keeps its last part
  std::int64_t protocol_bytes = 256 << 20;  // on file descriptor 3
  // Standard output takes the place of file descriptor 3, apart from standard error.
  bool output_is_protocol = false;
  int processes = 512;                   // of the family; more ends it as `flooded`
  std::filesystem::path grows;           // not empty: a folder that it may write to
  std::int64_t grows_bytes = 2LL << 30;  // by which that may grow; checked each second
  std::vector<int> cpus;                 // empty: not pinned
  int nice = 0;
};

struct ProcessResult {
  std::string start_error;       // not empty: it never ran
  bool program_missing = false;  // as start_error says: it cannot run here
  std::optional<int> exit_code;  // nullopt: ended by `signal`
  int signal = 0;
  bool timed_out = false;
  bool out_of_memory = false;  // over its limit, or taken by the kernel's out-of-memory killer
  std::string memory_limit;    // which limit that was; empty: the kernel's
  long long oom_kills = 0;     // by the kernel on this machine meanwhile, of whatever process
  std::string flooded;   // what there was too much of: "output", "protocol", "processes", "files"
  bool stopped = false;  // by the stop token
  std::string output;    // stdout and stderr as they came
  std::string protocol;  // what came on file descriptor 3
  double seconds = 0;
  double timeout_seconds = 0;  // as the specification had it; 0: not known

  bool fine() const {
    return start_error.empty() && exit_code == 0 && !timed_out && !out_of_memory &&
           flooded.empty() && !stopped;
  }
  // Its folder grew by more than it may.
  bool wrote_too_much() const { return flooded == "files"; }
  // Whether it ended by what this machine lacks: the program, or memory. Its own code is not to
  // blame.
  bool cannot_tell() const {
    return !start_error.empty() || out_of_memory || exit_code == 126 || exit_code == 127;
  }
  // Says in one sentence how it ended, with the last line of its output. If that is a Python
  // exception, the place where it was raised comes first.
  std::string describe() const;
  // Returns at most the last 30 lines of its output, without the final line end.
  std::string end_of_output() const;
};

// There are two kinds of processes, and no third. Both functions block until the process and all
// its descendants have ended. Only one thread may call them at a time, since orphans are handed to
// this process and counted as the child's family.

// Runs a program of this machine as this process. Nothing of a build may be in its reach: it starts
// in the folder that `spec` names or in "/", and a Python must be isolated (trusted_python).
// Throws std::logic_error where `spec` says whence to load code, otherwise than this process's own
// environment does.
ProcessResult run_trusted(const ProcessSpec& spec, std::stop_token stop = {});

// Runs a program that is, loads or translates what a build brought.
ProcessResult run_untrusted(const ProcessSpec& spec, const BuildRights& rights,
                            std::stop_token stop = {});

// A Python program that stands in our sources.
class PythonText {
 public:
  consteval PythonText(const char* text) : text_(text) {}
  const char* text() const { return text_; }

 private:
  const char* text_;
};
// `text` as a trusted program: this Python looks for modules in its own folders alone, neither in
// the working folder, nor in PYTHONPATH, nor in a home.
ProcessSpec trusted_python(const std::filesystem::path& python, PythonText text);

// Returns PATH, HOME, LANG, TMPDIR and what the drivers of GPUs need. The rest of this process's
// environment, tokens included, is not passed on.
std::map<std::string, std::string> clean_environment(const std::filesystem::path& home);

}  // namespace nightjar::runner
