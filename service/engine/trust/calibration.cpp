#include "service/engine/trust/calibration.hpp"

#include <algorithm>
#include <map>

#include "bisect/detection.hpp"
#include "service/builds/overlay.hpp"
#include "service/engine/jobs/priorities.hpp"
#include "service/engine/jobs/session_check.hpp"
#include "service/engine/jobs/session_plan.hpp"
#include "service/engine/policy.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/builds.hpp"
#include "storage/calibration.hpp"
#include "storage/jobs.hpp"
#include "storage/series.hpp"
#include "storage/sessions.hpp"

namespace nightjar::service {
namespace {

constexpr int pairs = 10;      // the second rung of the confirmation
constexpr int most_cases = 4;  // a night and machine class
constexpr double spare = 4;    // cases whose price may be saved up

void add_session(const storage::Database& db, const Job& job, CalibrationFunds& funds) {
  const auto session = storage::session_of(db, job.id);
  if (!session) return;
  std::map<int, std::pair<double, int>> by_workload;
  for (const RunResult& run : session->runs) {
    funds.spent_seconds += run.seconds;
    const auto index = static_cast<std::size_t>(run.order);
    if (index >= job.spec.order.size() || run.status != RunStatus::measured) continue;
    auto& [seconds, runs] = by_workload[job.spec.order[index].workload];
    seconds += run.seconds;
    ++runs;
  }
  for (const auto& [workload, sum] : by_workload)
    if (workload >= 0)
      funds.prices.push_back(
          {job.spec.workloads.at(static_cast<std::size_t>(workload)), sum.first / sum.second});
}

Job case_of(const Config& config, const Night& night, MachineId machine, const Build& build,
            const Workload& workload, std::int64_t number) {
  Job job;
  job.key = "night:" + std::to_string(night.id.value) +
            "/machine:" + std::to_string(machine.value) + "/calibrate:" + std::to_string(number);
  job.night = night.id;
  job.machine = machine;
  job.priority = priority::calibration;
  job.spec.kind = JobKind::calibrate;
  job.spec.environments = {environment_of(build, config.project),
                           environment_of(build, config.project)};
  job.spec.workloads = {workload};
  job.spec.order = turns_order(2, pairs);
  const bool planted = number % 2 == 1;
  for (PlannedRun& run : job.spec.order)
    if (planted && run.environment == 1) run.slow = config.calibration.planted;
  job.spec.limits = run_limits(config.night);
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

CalibrationPlan plan_of(MachineId machine, const CalibrationFunds& funds, const Night& night,
                        const Build& build, const Config& config) {
  CalibrationPlan plan{machine, {}, funds.budget};
  auto& [saved, number] = plan.budget;
  saved += config.calibration.share * funds.spent_seconds;
  double cost = 0;
  for (int cases = 0; cases < most_cases; ++cases) {
    // Both kinds of case for a workload, then the next one.
    const auto turn = static_cast<std::size_t>(number / 2) % funds.prices.size();
    cost = 2 * pairs * funds.prices[turn].seconds;
    if (cost <= 0 || saved < cost) break;
    plan.cases.push_back(
        case_of(config, night, machine, build, funds.prices[turn].workload, number));
    saved -= cost;
    ++number;
  }
  saved = std::min(saved, spare * cost);
  return plan;
}

}  // namespace

CalibrationFacts load_calibration(const EngineView& view, const std::vector<Job>& usable) {
  CalibrationFacts all;
  if (view.config.calibration.share <= 0) return all;
  for (const Job& job : usable) add_session(view.db, job, all[job.machine]);
  for (auto& [machine, funds] : all) funds.budget = storage::calibration_budget(view.db, machine);
  return all;
}

std::vector<CalibrationPlan> plan_calibration(const CalibrationFacts& facts, const Night& night,
                                              const Build& build, const Config& config) {
  std::vector<CalibrationPlan> plans;
  for (const auto& [machine, funds] : facts)
    if (!funds.prices.empty()) plans.push_back(plan_of(machine, funds, night, build, config));
  return plans;
}

void store(storage::Transaction& transaction, const CalibrationPlan& plan, Time now) {
  for (const Job& job : plan.cases) queue_job(transaction, job, now);
  storage::set_calibration_budget(transaction, plan.machine, plan.budget);
}

CalibrationRuns load_case(const EngineView& view, const Job& asked) {
  CalibrationRuns runs;
  runs.asked = asked;
  const SessionOutcome session = outcome_of(view.db, asked);
  runs.pending = session.state == SessionOutcome::State::pending;
  if (runs.pending) return runs;
  runs.series =
      storage::find_series(view.db, asked.spec.workloads.front().id, "latency", asked.machine,
                           variant_of(view, asked.spec.environments.front().build));
  if (!runs.series) return runs;
  runs.policy = learned_policy(view, *runs.series);
  if (session.state != SessionOutcome::State::usable) return runs;
  for (const SeriesRun& run : storage::runs_of_job(view.db, runs.series->id, session.job.id)) {
    const PlannedRun& planned = session.job.spec.order.at(static_cast<std::size_t>(run.order));
    (planned.environment == 0 ? runs.plain : runs.other).push_back(run.value);
  }
  return runs;
}

std::optional<CalibrationCase> judge(const CalibrationRuns& runs, Time now) {
  if (runs.pending || !runs.series) return std::nullopt;
  CalibrationCase found;
  found.job = runs.asked.id;
  found.series = runs.series->id;
  found.planted = planted_in(runs.asked);
  found.at = now;
  found.runs = static_cast<int>(std::min(runs.plain.size(), runs.other.size()));
  if (found.runs == 0) return found;
  const auto said = bisect::confirm(runs.plain, runs.other, runs.policy);
  found.verdict = verdict_of(said.verdict);
  found.ratio = said.change.ratio;
  found.low = said.change.low;
  found.high = said.change.high;
  return found;
}

bool judge_calibrations(EngineContext& context) {
  bool changed = false;
  for (const Job& asked : storage::unjudged_calibrations(context.db)) {
    const auto found = judge(load_case(context, asked), context.clock.now());
    if (!found) continue;
    storage::write(context.db, [&](storage::Transaction& transaction) {
      storage::add_calibration(transaction, *found);
    });
    changed = true;
  }
  return changed;
}

}  // namespace nightjar::service
