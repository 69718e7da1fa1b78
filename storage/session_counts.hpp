// How a night's sessions went, counted. Used by digests.
#pragma once

#include "storage/database.hpp"
#include "storage/model/id.hpp"

namespace nightjar::storage {

struct SessionCount {
  int all = 0, not_usable = 0;  // that were judged; of them the void ones
};
SessionCount count_sessions(const Database& db, NightId night);

}  // namespace nightjar::storage
