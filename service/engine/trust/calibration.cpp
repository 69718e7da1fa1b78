#include "service/engine/trust/calibration.hpp"

#include <algorithm>
#include <map>

#include "bisect/detection.hpp"
#include "service/builds/overlay.hpp"
#include "service/engine/jobs/session_plan.hpp"
#include "service/engine/jobs/sessions.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/builds.hpp"
#include "storage/calibration.hpp"
#include "storage/jobs.hpp"
#include "storage/series.hpp"
#include "storage/sessions.hpp"

namespace nightjar::service {
namespace {

constexpr int kPriority = -10;  // after all that a verdict waits for
constexpr int kPairs = 10;      // the second rung of the confirmation
constexpr int kMostCases = 4;   // a night and machine class
constexpr double kSpare = 4;    // cases whose price may be saved up

// What one workload's run takes on a machine class, seconds.
struct Price {
  Workload workload;
  double seconds = 0;
};

struct Spent {
  double seconds = 0;
  std::vector<Price> prices;
};

void add_session(EngineContext& context, const Job& job, Spent& spent) {
  const auto session = storage::session_of(context.db, job.id);
  if (!session) return;
  std::map<int, std::pair<double, int>> by_workload;
  for (const RunResult& run : session->runs) {
    spent.seconds += run.seconds;
    const auto index = static_cast<std::size_t>(run.order);
    if (index >= job.spec.order.size() || run.status != RunStatus::measured) continue;
    auto& [seconds, runs] = by_workload[job.spec.order[index].workload];
    seconds += run.seconds;
    ++runs;
  }
  for (const auto& [workload, sum] : by_workload)
    if (workload >= 0)
      spent.prices.push_back(
          {job.spec.workloads.at(static_cast<std::size_t>(workload)), sum.first / sum.second});
}

std::map<MachineId, Spent> spent_by_machine(EngineContext& context,
                                            const std::vector<Job>& usable) {
  std::map<MachineId, Spent> all;
  for (const Job& job : usable) add_session(context, job, all[job.machine]);
  return all;
}

Job case_of(EngineContext& context, const Night& night, MachineId machine, const Build& build,
            const Workload& workload, std::int64_t number) {
  Job job;
  job.key = "night:" + std::to_string(night.id.value) +
            "/machine:" + std::to_string(machine.value) + "/calibrate:" + std::to_string(number);
  job.night = night.id;
  job.machine = machine;
  job.priority = kPriority;
  job.spec.kind = JobKind::calibrate;
  job.spec.environments = {environment_of(build), environment_of(build)};
  job.spec.workloads = {workload};
  job.spec.order = pair_order(kPairs);
  const bool planted = number % 2 == 1;
  for (PlannedRun& run : job.spec.order)
    if (planted && run.environment == 1) run.slow = context.config.calibration.planted;
  job.spec.limits = run_limits(context.config.night);
  return job;
}

double planted_in(const Job& job) {
  double slow = 0;
  for (const PlannedRun& run : job.spec.order) slow = std::max(slow, run.slow);
  return slow;
}

CalibrationVerdict verdict_of(bisect::Confirmation::Verdict verdict) {
  using enum bisect::Confirmation::Verdict;
  switch (verdict) {
    case worse:
      return CalibrationVerdict::worse;
    case better:
      return CalibrationVerdict::better;
    case same:
      return CalibrationVerdict::same;
    case inconclusive:
    case more:
      break;
  }
  return CalibrationVerdict::inconclusive;
}

// `measured`: nullptr where every session of the case was void. False if nothing was ever measured.
bool judge(EngineContext& context, const Job& asked, const Job* measured) {
  CalibrationCase found;
  found.job = asked.id;
  found.planted = planted_in(asked);
  found.at = context.clock.now();
  const auto series = storage::find_series(context.db, asked.spec.workloads.front().id, "latency",
                                           asked.machine, context.config.source.variant);
  if (!series) return false;
  found.series = series->id;
  std::vector<double> plain, other;
  const auto runs = measured ? storage::runs_of_job(context.db, series->id, measured->id)
                             : std::vector<SeriesRun>{};
  for (const SeriesRun& run : runs) {
    const PlannedRun& planned = measured->spec.order.at(static_cast<std::size_t>(run.order));
    (planned.environment == 0 ? plain : other).push_back(run.value);
  }
  found.runs = static_cast<int>(std::min(plain.size(), other.size()));
  if (found.runs > 0) {
    const auto said = bisect::confirm(plain, other, learned_policy(context, *series));
    found.verdict = verdict_of(said.verdict);
    found.ratio = said.change.ratio;
    found.low = said.change.low;
    found.high = said.change.high;
  }
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::add_calibration(transaction, found);
  });
  return true;
}

}  // namespace

void plan_calibration(EngineContext& context, const Night& night, const std::vector<Job>& usable) {
  const auto build = storage::find_build(context.db, *night.build);
  if (!build || context.config.calibration.share <= 0) return;
  for (const auto& [machine, spent] : spent_by_machine(context, usable)) {
    if (spent.prices.empty()) continue;
    auto [saved, number] = storage::calibration_budget(context.db, machine);
    saved += context.config.calibration.share * spent.seconds;
    double cost = 0;
    for (int cases = 0; cases < kMostCases; ++cases) {
      // Both kinds of case for a workload, then the next one.
      const Price& turn = spent.prices[static_cast<std::size_t>(number / 2) % spent.prices.size()];
      cost = 2 * kPairs * turn.seconds;
      if (cost <= 0 || saved < cost) break;
      queue_job(context, case_of(context, night, machine, *build, turn.workload, number));
      saved -= cost;
      ++number;
    }
    storage::write(context.db, [&](storage::Transaction& transaction) {
      storage::set_calibration_budget(transaction, machine,
                                      {std::min(saved, kSpare * cost), number});
    });
  }
}

bool judge_calibrations(EngineContext& context) {
  bool changed = false;
  for (const Job& asked : storage::unjudged_calibrations(context.db)) {
    const Settled settled = settle(context, asked);
    if (settled.state == Settled::State::pending) continue;
    const bool usable = settled.state == Settled::State::usable;
    changed |= judge(context, asked, usable ? &settled.job : nullptr);
  }
  return changed;
}

}  // namespace nightjar::service
