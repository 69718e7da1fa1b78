#include "service/engine/jobs/demand.hpp"

#include <algorithm>

#include "service/engine/jobs/claimable.hpp"
#include "service/engine/jobs/session_plan.hpp"
#include "storage/nights.hpp"
#include "storage/pools.hpp"
#include "storage/source_builds.hpp"

namespace nightjar::service {
namespace {

bool can_be_claimed(const storage::WaitingJob& job, const std::vector<Runner>& pool) {
  return std::any_of(pool.begin(), pool.end(), [&](const Runner& runner) {
    return can_run(runner, job) && (!job.affinity || *job.affinity == runner.id);
  });
}

bool has_session(const std::vector<Runner>& pool, const std::vector<MachineId>& planned) {
  return std::any_of(pool.begin(), pool.end(), [&](const Runner& runner) {
    return std::find(planned.begin(), planned.end(), runner.machine) != planned.end();
  });
}

int as_int(std::ptrdiff_t count) {
  return static_cast<int>(count);
}

}  // namespace

DemandFacts load_demand(const storage::Database& db, std::vector<Runner> pool, Time now) {
  DemandFacts facts{std::move(pool),
                    storage::waiting_jobs(db),
                    storage::job_holders(db),
                    storage::due_builds(db, now),
                    {}};
  for (const Night& night : storage::open_nights(db))
    if (night.state == NightState::measuring)
      facts.nights.push_back(storage::planned_classes(db, night.id));
  return facts;
}

Demand decide(const DemandFacts& facts, const Config& config) {
  const auto& pool = facts.pool;
  Demand demand;
  demand.runners = as_int(std::ssize(pool));
  demand.queued = as_int(
      std::count_if(facts.waiting.begin(), facts.waiting.end(),
                    [&](const storage::WaitingJob& job) { return can_be_claimed(job, pool); }));
  if (std::any_of(pool.begin(), pool.end(), storage::is_builder)) demand.queued += facts.due_builds;
  demand.held =
      as_int(std::count_if(facts.holders.begin(), facts.holders.end(), [&](RunnerId holder) {
        return std::any_of(pool.begin(), pool.end(),
                           [&](const Runner& runner) { return runner.id == holder; });
      }));
  const bool able =
      pool.empty() || std::any_of(pool.begin(), pool.end(), [&](const Runner& runner) {
        return can_run_any(runner, config.night.workloads);
      });
  if (able)
    demand.nights =
        as_int(std::count_if(facts.nights.begin(), facts.nights.end(),
                             [&](const auto& planned) { return !has_session(pool, planned); }));
  demand.wanted = std::max(demand.queued + demand.held, demand.nights > 0 ? 1 : 0);
  return demand;
}

}  // namespace nightjar::service
