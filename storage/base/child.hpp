// Starts a program as a child process: all that happens between fork and exec. Used by the runner's
// process guard, by git's and by the service for its own runner; to watch the child and to wait for
// it is theirs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "storage/base/fd.hpp"

namespace nightjar {

struct Pipe {
  Fd read, write;  // nobody inherits them; `read` does not block
};
// Returns nullopt with errno set if the system has none left.
std::optional<Pipe> open_pipe();

// Returns where PATH has a program of this name. A name that has a slash, or that PATH does not
// have, comes back unchanged.
std::string find_program(const std::string& name);

struct ChildSpec {
  std::vector<std::string> command;      // [0] is looked up in this process's PATH
  std::vector<std::string> environment;  // NAME=value; all of it
  std::vector<int> descriptors;          // what it has as 0, 1, 2 and so on; none is below 10
  std::filesystem::path folder;          // empty: this process's
  std::vector<int> cpus;                 // empty: not pinned
  int nice = 0;
  std::filesystem::path group =
      {};                   // cgroup.procs of the control group that it enters; empty: none
  int end_signal = 9;       // SIGKILL: what it gets when the thread that started it ends
  bool expendable = false;  // the kernel takes it first when memory runs out; it leaves no core
};

struct Child {
  pid_t pid = -1;
  int error = 0;  // of errno; not 0: nothing was started
};

// Returns when the program runs. It leads a session and a process group of its own, has the default
// signals and no other descriptors, whatever libraries left open, and ends when the thread that
// started it does. Nothing else starts a program: tests/star_test.py holds that.
Child start_child(const ChildSpec& spec);

}  // namespace nightjar
