// Runners that come and go, as a cluster's scheduler starts them: how much work there is for a pool
// of them, and what becomes of one that ends.
#pragma once

#include <vector>

#include "storage/database.hpp"
#include "storage/model/id.hpp"
#include "storage/model/time.hpp"

namespace nightjar::storage {

// Returns the runners that hold the leased jobs, once for each job.
std::vector<RunnerId> job_holders(const Database& db);
// Queued builds that some builder may claim at `now`.
int due_builds(const Database& db, Time now);
// The machine classes for which `night` has a session, in order.
std::vector<MachineId> planned_classes(const Database& db, NightId night);

// Notes that the runner ended by itself: it is no longer live, another host may take its name, and
// other runners of its class may claim the queued jobs that only it could claim.
void dismiss_runner(Transaction& transaction, RunnerId id);

}  // namespace nightjar::storage
