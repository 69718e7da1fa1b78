#include "service/engine/jobs/demand.hpp"

#include <algorithm>

#include "service/engine/jobs/claimable.hpp"
#include "service/engine/jobs/live_runners.hpp"
#include "service/engine/jobs/session_plan.hpp"
#include "storage/builds.hpp"
#include "storage/model/variants.hpp"
#include "storage/nights.hpp"
#include "storage/pools.hpp"
#include "storage/source_builds.hpp"

namespace nightjar::service {
namespace {

bool can_be_claimed(const storage::WaitingJob& job, const std::vector<Runner>& pool,
                    const Config& config) {
  return std::any_of(pool.begin(), pool.end(), [&](const Runner& runner) {
    return can_run(runner, job, config) && (!job.affinity || *job.affinity == runner.id);
  });
}

// Whether it has no session for those of the pool that can run it.
bool wants_one(const DemandFacts::MeasuringNight& night, std::vector<Runner> pool,
               const Config& config) {
  if (pool.empty()) return true;
  std::erase_if(pool, [&](const Runner& runner) {
    return !measures(runner, night.variant, config.source.variant) ||
           !can_run_any(runner, config.night.workloads);
  });
  const auto has_session = [&](const Runner& runner) {
    return std::find(night.classes.begin(), night.classes.end(), runner.machine) !=
           night.classes.end();
  };
  return !pool.empty() && std::none_of(pool.begin(), pool.end(), has_session);
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
    if (const auto build = night.build ? storage::find_build(db, *night.build) : std::nullopt;
        build && night.state == NightState::measuring)
      facts.nights.push_back({build->variant, storage::planned_classes(db, night.id)});
  return facts;
}

Demand decide(const DemandFacts& facts, const Config& config) {
  const auto& pool = facts.pool;
  Demand demand;
  demand.runners = as_int(std::ssize(pool));
  demand.queued =
      as_int(std::count_if(facts.waiting.begin(), facts.waiting.end(),
                           [&](const auto& job) { return can_be_claimed(job, pool, config); }));
  if (std::any_of(pool.begin(), pool.end(), storage::is_builder)) demand.queued += facts.due_builds;
  demand.held =
      as_int(std::count_if(facts.holders.begin(), facts.holders.end(), [&](RunnerId holder) {
        return std::any_of(pool.begin(), pool.end(),
                           [&](const Runner& runner) { return runner.id == holder; });
      }));
  demand.nights =
      as_int(std::count_if(facts.nights.begin(), facts.nights.end(),
                           [&](const auto& night) { return wants_one(night, pool, config); }));
  demand.wanted = std::max(demand.queued + demand.held, demand.nights > 0 ? 1 : 0);
  return demand;
}

}  // namespace nightjar::service
