// How much memory there is, and how much of it a build may take. Used by the guard of processes, so
// that no build takes the machine down.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/process/own_groups.hpp"

namespace nightjar::runner {

struct MemoryBudget {
  std::int64_t most = 0;   // bytes that a build's processes may have together; 0: not known
  std::int64_t floor = 0;  // bytes of the machine that stay free, or its run ends
};

// Divides `total` bytes. A build gets all but a sixteenth, which is 128 MiB at least and 8 GiB at
// most. Half of that sixteenth stays free, even of files in memory, which belong to no process.
MemoryBudget budget_of(std::int64_t total);

// Returns the machine's memory in bytes, or less where a control group of this process has less. 0:
// not known.
std::int64_t memory_of_machine();

// Returns the bytes that programs could still have without swapping, on this machine or in a group
// of this process that has less; -1: not known.
std::int64_t available_memory(const std::vector<OwnGroup>& groups = own_groups());

// Returns the bytes of shared memory and of files in memory, whether a process maps them or not.
// They are those of this process's group, or of the machine where no group counts them.
std::int64_t shared_memory(const std::vector<OwnGroup>& groups = own_groups());

}  // namespace nightjar::runner
