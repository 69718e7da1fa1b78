// How a night's sessions went, counted, and how long they took. Used by digests and by figures of
// what nights cost.
#pragma once

#include "storage/database.hpp"
#include "storage/model/id.hpp"

namespace nightjar::storage {

struct SessionCount {
  int all = 0, not_usable = 0;  // that were judged; of them the void ones
};
SessionCount count_sessions(const Database& db, NightId night);

// How long the night's sessions held machines, in seconds: each from the begin of its first run to
// the end of its last. What prepares a session is not in it.
struct SessionTime {
  double with_gpu = 0, without = 0;  // on machine classes that have a GPU, and on others
};
SessionTime session_time(const Database& db, NightId night);

}  // namespace nightjar::storage
