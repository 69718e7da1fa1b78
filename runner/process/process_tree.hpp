// Processes and their descendants as /proc shows them: to weigh a run's memory and to end all of
// it.
#pragma once

#include <cstdint>
#include <set>
#include <sys/types.h>
#include <vector>

namespace nightjar::runner {

// Children of this process right now, so that later ones can be told from them.
std::set<pid_t> own_children();

// `root`, its descendants, the members of its session, and orphans that were handed to this process
// (a subreaper) and are not in `known`. Reads all of /proc: milliseconds; for ending, not for
// polling.
std::vector<pid_t> family_of(pid_t root, const std::set<pid_t>& known);

struct Weight {
  std::int64_t bytes = 0;  // resident: what each has for itself, plus the largest shared part
  int processes = 0;
};
// Of `root`, its descendants and handed-over orphans; microseconds a process.
Weight weigh(pid_t root, const std::set<pid_t>& known);

// Kills `root`'s process group and family until nobody is left, and reaps those that are ours,
// `root` excepted.
void kill_family(pid_t root, const std::set<pid_t>& known);

}  // namespace nightjar::runner
