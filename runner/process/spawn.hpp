// Starts one child process with its pipes; the part of process.cpp that runs between fork and exec.
#pragma once

#include <string>
#include <sys/types.h>

#include "runner/process/process.hpp"
#include "storage/base/fd.hpp"

namespace nightjar::runner {

// Returns where PATH has a program of this name. A name that has a slash, or that PATH does not
// have, comes back unchanged.
std::string find_program(const std::string& name);

struct Spawned {
  pid_t pid = -1;
  Fd input, output, protocol;  // this process's ends, non-blocking
  std::string error;           // not empty: nothing was started
};

Spawned spawn(const ProcessSpec& spec);

}  // namespace nightjar::runner
