#include "service/engine/night/nights.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "service/builds/overlay.hpp"
#include "service/engine/jobs/live_runners.hpp"
#include "service/engine/jobs/session_check.hpp"
#include "service/engine/jobs/session_plan.hpp"
#include "service/engine/night/changed_facts.hpp"
#include "service/engine/verdict/affected_classes.hpp"
#include "service/engine/verdict/confirmations.hpp"
#include "service/engine/verdict/expected_results.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/model/variants.hpp"
#include "storage/nights.hpp"
#include "storage/pools.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {
using namespace std::chrono_literals;

constexpr auto runner_patience = 24h;  // how long a measuring night waits for a runner

// By the noise of the workload's latency in the nights before.
int runs_of(const EngineView& view, MachineId machine, const std::string& variant,
            const std::string& name, int version) {
  const int usual = view.config.night.runs;
  const auto workload = storage::find_workload(view.db, *WorkloadName::parse(name), version);
  if (!workload) return usual;
  const auto series = storage::find_series(view.db, workload->id, "latency", machine, variant);
  return series ? bisect::runs_a_night(noise_of(view.db, *series).kind, usual) : usual;
}

// By class, those that may measure the build and have no session yet.
std::map<MachineId, std::vector<Runner>> runners_without(const EngineView& view, const Build& build,
                                                         const std::vector<MachineId>& planned) {
  std::map<MachineId, std::vector<Runner>> classes;
  for (Runner& runner : live_runners(view))
    if (std::find(planned.begin(), planned.end(), runner.machine) == planned.end() &&
        measures(runner, build.variant, view.config.source.variant))
      classes[runner.machine].push_back(std::move(runner));
  return classes;
}

// Plans one class at a time: many workloads take long to plan, and others wait meanwhile.
std::vector<Job> missing_sessions(const EngineView& view, const Night& night, const Build& build,
                                  const std::vector<MachineId>& planned) {
  const auto runs = [&](MachineId machine, const std::string& workload, int version) {
    return runs_of(view, machine, build.variant, workload, version);
  };
  std::vector<Job> jobs;
  for (const auto& [machine, runners] : runners_without(view, build, planned)) {
    jobs = plan_screen(night, environment_of(build, view.config.project), runners,
                       view.config.night, runs);
    if (!jobs.empty()) break;
  }
  for (Job& job : jobs)
    for (Workload& workload : job.spec.workloads)
      workload.expected = expected_result(view, workload.name, workload.version, job.machine,
                                          build.variant, night.id);
  const auto last =
      jobs.empty() ? std::nullopt : load_build_to_repeat(view, night, jobs.front().machine);
  for (Job& job : jobs)
    if (last) measure_again(job.spec, environment_of(*last, view.config.project));
  return jobs;
}

std::set<MachineId> machines_of(const std::vector<Job>& sessions) {
  std::set<MachineId> machines;
  for (const Job& job : sessions) machines.insert(job.machine);
  return machines;
}

// Two sentences, or the one that is not empty.
std::string both(const std::string& first, const std::string& second) {
  return first + (first.empty() || second.empty() ? "" : "; ") + second;
}

// What a person reads beside the night: nothing if it left no suspicion open.
std::string unconfirmed_text(const JudgingFacts& facts) {
  const auto open = std::count_if(
      facts.regressions.begin(), facts.regressions.end(),
      [](const Regression& one) { return one.state == RegressionState::unconfirmed; });
  if (open == 0) return {};
  return both(facts.night.reason, std::to_string(open) +
                                      (open == 1 ? " suspicion" : " suspicions") +
                                      " could not be confirmed: see the unconfirmed regressions");
}

// The night in its next state; a reason replaces the one that it has.
Night moved(Night night, NightState state, const std::string& reason, Time now) {
  night.state = state;
  if (!reason.empty()) night.reason = reason;
  if (state == NightState::done) night.finished_at = now;
  return night;
}

void move(EngineContext& context, const Night& to) {
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::update_night(transaction, to);
  });
  announce(context, to);
}

bool apply(EngineContext&, const Night&, const AwaitNight&) {
  return false;
}

bool apply(EngineContext& context, const Night&, const PlanSessions& step) {
  // One transaction, because a machine class that has one job counts as planned.
  storage::write(context.db, [&](storage::Transaction& transaction) {
    for (const Job& job : step.jobs) queue_job(transaction, job, context.clock.now());
  });
  return true;
}

bool apply(EngineContext& context, const Night& night, const EndNight& step) {
  move(context, moved(night, NightState::done, step.reason, context.clock.now()));
  return true;
}

bool apply(EngineContext& context, const Night& night, const JudgeNight& step) {
  const Time now = context.clock.now();
  const Night judging = moved(night, NightState::judging, step.reason, now);
  storage::Transaction transaction(context.db);
  store(transaction, step.verdicts);
  for (const Regression& regression : step.resumed)
    resume_confirmation(transaction, regression, night, now);
  for (const CalibrationPlan& plan : step.calibrations) store(transaction, plan, now);
  for (const Job& job : step.profiles) queue_job(transaction, job, now);
  for (const Judged& counted : step.judged) storage::count_judged(transaction, counted);
  storage::update_night(transaction, judging);
  transaction.commit();
  for (const Regression& regression : step.resumed)
    announce(context, regression, RegressionState::suspected);
  announce(context, judging);
  return true;
}

bool apply(EngineContext& context, const Night& night, const CloseNight& step) {
  const Night done = moved(night, NightState::done, step.reason, context.clock.now());
  storage::Transaction transaction(context.db);
  store(transaction, step.released);
  for (const ClassesElsewhere& one : step.elsewhere)
    storage::set_classes_elsewhere(transaction, one.regression, one.classes);
  storage::update_night(transaction, done);
  transaction.commit();
  announce(context, done);
  return true;
}

bool advance_measuring(EngineContext& context, const Night& night) {
  const MeasuringStep step = decide(load_measuring(context, night), context.config);
  return std::visit([&](const auto& taken) { return apply(context, night, taken); }, step);
}

bool advance_judging(EngineContext& context, const Night& night) {
  const JudgingStep step = decide(load_judging(context, night));
  return std::visit([&](const auto& taken) { return apply(context, night, taken); }, step);
}

}  // namespace

MeasuringFacts load_measuring(const EngineView& view, const Night& night) {
  MeasuringFacts facts;
  facts.night = night;
  facts.now = view.clock.now();
  facts.build = storage::find_build(view.db, *night.build);
  const std::vector<MachineId> planned = storage::planned_classes(view.db, night.id);
  facts.planned = !planned.empty();
  if (facts.build) facts.missing = missing_sessions(view, night, *facts.build, planned);
  facts.pending = storage::has_open_screening(view.db, night.id);
  if (!facts.planned || facts.pending || !facts.missing.empty()) return facts;
  const SessionOutcomes sessions =
      outcomes_of(view.db, storage::jobs_of_night(view.db, night.id, JobKind::screen));
  facts.pending = sessions.pending;
  facts.failure = sessions.failure;
  if (facts.pending) return facts;
  facts.observed = observe(view, night, sessions.usable);
  facts.to_resume = confirmations_to_resume(view.db, night, machines_of(sessions.usable));
  facts.calibration = load_calibration(view, sessions.usable);
  facts.turns = load_profile_turns(view, sessions.usable);
  return facts;
}

MeasuringStep decide(const MeasuringFacts& facts, const Config& config) {
  if (!facts.missing.empty()) return PlanSessions{facts.missing};
  if (!facts.planned) {
    if (facts.now - facts.night.started_at < runner_patience) return AwaitNight{};
    return EndNight{"no runner that can run the workloads appeared"};
  }
  if (facts.pending) return AwaitNight{};
  JudgeNight step;
  step.verdicts = screen(facts.night, facts.observed, facts.now);
  step.judged = count_judged(facts.observed, step.verdicts, facts.now);
  step.resumed = facts.to_resume;
  if (facts.build) {
    step.calibrations = plan_calibration(facts.calibration, facts.night, *facts.build, config);
    step.profiles = plan_profiles(facts.turns, facts.night, *facts.build, config);
  }
  const std::string found = both(facts.failure, step.verdicts.reason);
  if (!found.empty()) step.reason = both(facts.night.reason, found);
  return step;
}

JudgingFacts load_judging(const EngineView& view, const Night& night) {
  JudgingFacts facts;
  facts.night = night;
  facts.now = view.clock.now();
  facts.regressions = storage::regressions_of_night(view.db, night.id);
  const bool undecided =
      std::any_of(facts.regressions.begin(), facts.regressions.end(),
                  [](const Regression& one) { return one.state == RegressionState::suspected; });
  if (undecided) return facts;
  const auto asked = storage::jobs_of_night(view.db, night.id, JobKind::screen);
  const SessionOutcomes sessions = outcomes_of(view.db, asked);
  if (sessions.pending) return facts;
  facts.observed = observe(view, night, sessions.usable);
  facts.classes = classes_to_ask(view, sessions.usable);
  for (const Regression& regression : facts.regressions)
    if (lifecycle_of(regression.state).is_counted)
      facts.shown.emplace(regression.id, series_shown(view, regression));
  return facts;
}

JudgingStep decide(const JudgingFacts& facts) {
  for (const Regression& regression : facts.regressions)
    if (regression.state == RegressionState::suspected) return AwaitNight{};
  CloseNight step{release_held(facts.night, facts.observed, facts.regressions, facts.now),
                  unconfirmed_text(facts),
                  {}};
  for (const auto& [id, shown] : facts.shown)
    step.elsewhere.push_back(
        {id, classes_elsewhere(shown, facts.observed, facts.regressions, facts.classes)});
  return step;
}

bool advance_nights(EngineContext& context) {
  return for_each_item(context, "night", storage::open_nights(context.db), [&](const Night& night) {
    if (night.state == NightState::measuring) return advance_measuring(context, night);
    return night.state == NightState::judging && advance_judging(context, night);
  });
}

}  // namespace nightjar::service
