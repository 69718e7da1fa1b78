// How many runners of a pool have something to do. A scheduler that starts runners asks for it, and
// so keeps as many of them as there is work.
#pragma once

#include <string>
#include <vector>

#include "service/config.hpp"
#include "storage/jobs.hpp"
#include "storage/model/machine.hpp"

namespace nightjar::service {

struct DemandFacts {
  std::vector<Runner> pool;  // that ever registered, live or not
  std::vector<storage::WaitingJob> waiting;
  std::vector<RunnerId> holders;  // of jobs, whatever their pool; once for each job
  int due_builds = 0;             // that any builder may claim
  struct MeasuringNight {
    std::string variant;             // of its build
    std::vector<MachineId> classes;  // that have a session of it
  };
  std::vector<MeasuringNight> nights;  // that measure now
};
// `pool`: of the runners that count, by their ids and labels.
DemandFacts load_demand(const storage::Database& db, std::vector<Runner> pool, Time now);

struct Demand {
  int runners = 0;  // that ever registered
  int queued = 0;   // sessions and builds that one of them could claim
  int held = 0;     // jobs that one of them holds
  int nights = 0;   // that measure now, and for which no class of the pool has a session
  int wanted = 0;   // runners that would have something to do
};
// A night plans sessions for live runners only. So one runner is wanted for a night that has none
// for this pool, though nothing is queued. That a pool can run none of the night's workloads, or
// does not measure its variant, is not known before a runner of it has registered. Pure.
Demand decide(const DemandFacts& facts, const Config& config);

}  // namespace nightjar::service
