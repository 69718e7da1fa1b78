// How much memory there is, and how much of it a build may take. Used by the guard of processes, so
// that no build takes the machine down.
#pragma once

#include <cstdint>

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

// Returns the bytes that programs could still have on this machine without swapping; -1: not known.
std::int64_t available_memory();

}  // namespace nightjar::runner
