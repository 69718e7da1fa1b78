// Processes and their descendants as /proc shows them. Used to weigh a run's memory and to end all
// of it.
#pragma once

#include <cstdint>
#include <set>
#include <sys/types.h>
#include <vector>

namespace nightjar::runner {

// Returns the children of this process right now, so that later ones can be told from them.
std::set<pid_t> own_children();

struct Weight {
  std::int64_t bytes = 0;  // resident: what each has for itself, plus the largest shared part
  int processes = 0;
};
// Weighs `root`, its descendants and handed-over orphans in microseconds for each process. Stops
// counting above `most` processes: where they fork without end, more are made than can be counted.
Weight weigh(pid_t root, const std::set<pid_t>& known, int most);

struct ExactWeight {
  std::int64_t bytes = 0;
  std::int64_t shared_memory = 0;  // of them: shared memory and mapped files in memory
};
// Weighs the same processes, each shared page counted once: what forked processes have not changed
// yet is not theirs alone. Takes milliseconds and holds up the processes meanwhile.
ExactWeight exact_weight(pid_t root, const std::set<pid_t>& known, int most);

// Kills `root`'s process group, its descendants, and the orphans that were handed to this process
// (a subreaper) and are not in `known`, until nobody is left. Reaps all of them but `root`, which
// is a child of this process.
void kill_family(pid_t root, const std::set<pid_t>& known);

}  // namespace nightjar::runner
