// Starts one child process with its pipes, for process.cpp.
#pragma once

#include <string>
#include <sys/types.h>

#include "runner/process/memory_group.hpp"
#include "runner/process/process.hpp"
#include "storage/base/fd.hpp"

namespace nightjar::runner {

struct Spawned {
  pid_t pid = -1;
  Fd input, output, protocol;  // this process's ends, non-blocking
  std::string error;           // not empty: nothing was started
};

// nullptr: the process may do what this one does, and stays in this one's control group.
Spawned spawn(const ProcessSpec& spec, const Confinement* confinement, const MemoryGroup* group);

}  // namespace nightjar::runner
