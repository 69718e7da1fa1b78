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

// Returns `root`, its descendants, the members of its session, and orphans that were handed to this
// process (a subreaper) and are not in `known`. Reading all of /proc takes milliseconds: use it to
// end a family, not to poll.
std::vector<pid_t> family_of(pid_t root, const std::set<pid_t>& known);

struct Weight {
  std::int64_t bytes = 0;  // resident: what each has for itself, plus the largest shared part
  int processes = 0;
};
// Weighs `root`, its descendants and handed-over orphans in microseconds for each process. Stops
// counting above `most` processes: where they fork without end, more are made than can be counted.
Weight weigh(pid_t root, const std::set<pid_t>& known, int most);

// Returns the memory of the same processes in bytes, each shared page counted once: what forked
// processes have not changed yet is not theirs alone. Takes milliseconds and holds up the processes
// meanwhile.
std::int64_t exact_bytes(pid_t root, const std::set<pid_t>& known, int most);

// Kills `root`'s process group and family until nobody is left. Reaps our own children among them,
// except `root`.
void kill_family(pid_t root, const std::set<pid_t>& known);

}  // namespace nightjar::runner
