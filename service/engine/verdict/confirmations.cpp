#include "service/engine/verdict/confirmations.hpp"

#include <algorithm>

#include "bisect/calibration.hpp"
#include "bisect/detection.hpp"
#include "bisect/evidence/evidence.hpp"
#include "service/builds/overlay.hpp"
#include "service/engine/jobs/live_runners.hpp"
#include "service/engine/jobs/priorities.hpp"
#include "service/engine/jobs/session_check.hpp"
#include "service/engine/jobs/session_plan.hpp"
#include "service/engine/policy.hpp"
#include "service/engine/verdict/expected_results.hpp"
#include "service/engine/verdict/levels.hpp"
#include "service/engine/verdict/series_histories.hpp"
#include "service/engine/verdict/subject.hpp"
#include "storage/base/log.hpp"
#include "storage/builds.hpp"
#include "storage/confirmations.hpp"
#include "storage/jobs.hpp"
#include "storage/locks.hpp"
#include "storage/marks.hpp"
#include "storage/model/json.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/variants.hpp"
#include "storage/regressions.hpp"
#include "storage/runs.hpp"
#include "storage/series.hpp"
#include "storage/sessions.hpp"
#include "storage/trust.hpp"

namespace nightjar::service {
namespace {

// Runs that never saw the machine undisturbed have no value.
constexpr std::size_t most_sessions = 24;
constexpr std::size_t sessions_without_runs = 6;  // after which a build still has no run at all
constexpr int most_unfinished = 3;                // nights that try to confirm a suspicion
constexpr int most_to_attribute = 80;             // runs a side, to tell source, packages, wheel
constexpr int first_to_attribute = 5;             // of a first session that compares the wheels

storage::Comparison comparison_of(const SearchedChange& change, const Series& lead) {
  return {change.night, change.machine, lead.workload,
          change.good,  change.bad,     change.unfinished + 1};
}

// One key for all series of a workload: they are confirmed by the same sessions.
std::string key_of(const storage::Comparison& what, const Series& lead, int want,
                   std::size_t asked) {
  return "night:" + std::to_string(what.night.value) +
         "/machine:" + std::to_string(what.machine.value) + "/confirm:" + lead.workload_name.str() +
         "@" + std::to_string(lead.workload_version) + "/" + std::to_string(what.good.value) + "-" +
         std::to_string(what.bad.value) +
         (what.round == 1 ? "" : "/round:" + std::to_string(what.round)) +
         "/to:" + std::to_string(want) + "/" + std::to_string(asked);
}

// Builds weeks apart do not differ side by side: the machine crept. The series starts over.
void mark_creep(storage::Transaction& transaction, const Regression& regression, Time now) {
  const auto series = storage::find_series(transaction, regression.series.front().series);
  if (!series) return;
  storage::Mark mark;
  mark.at = now;
  mark.actor = "nightjar";
  mark.after_night = NightId{regression.night.value - 1};
  mark.machine = series->machine;
  mark.workload = series->workload_name.str();
  mark.metric = series->metric;
  mark.reason = "it crept over weeks, and the builds do not differ side by side: the machine did";
  storage::add_mark(transaction, mark);
}

// True if the sessions ran `build`, and all that it did was fail.
bool only_fails(const storage::Database& db, const std::vector<Job>& sessions, BuildId build) {
  bool failed = false;
  for (const Job& job : sessions) {
    const auto session = storage::session_of(db, job.id);
    if (!session) continue;
    for (const RunResult& run : session->runs) {
      const auto index = static_cast<std::size_t>(run.order);
      if (index >= job.spec.order.size() || job.spec.order[index].is_control()) continue;
      const auto side = static_cast<std::size_t>(job.spec.order[index].environment);
      if (job.spec.environments.at(side).build != build) continue;
      if (run.status == RunStatus::measured) return false;
      failed = true;
    }
  }
  return failed;
}

std::optional<double> level_of(const bisect::Confirmation& confirmation,
                               const evidence::Values& bad) {
  using enum bisect::Confirmation::Verdict;
  const bool known = confirmation.verdict == same || confirmation.verdict == better;
  return known ? std::optional(bisect::hodges_lehmann(bad.values)) : std::nullopt;
}

AffectedSeries measured_series(const SeriesId& lead, const bisect::Confirmation& confirmation,
                               const evidence::Values& good, const evidence::Values& bad) {
  return {lead,
          bisect::hodges_lehmann(good.values),
          bisect::hodges_lehmann(bad.values),
          confirmation.change.ratio,
          confirmation.change.low,
          confirmation.change.high};
}

// The job's mixed builds follow when they are stored.
AskForSession session_of(const ConfirmationFacts& facts, std::vector<EnvironmentSpec> environments,
                         int mixed, int runs, int want, const Config& config) {
  AskForSession step;
  Job& job = step.job;
  job.key = key_of(comparison_of(facts.regression, facts.lead), facts.lead, want, facts.asked);
  job.night = facts.regression.night;
  job.machine = facts.regression.machine;
  job.priority = priority::confirmation;
  job.spec.kind = JobKind::confirm;
  job.spec.order = turns_order(static_cast<int>(environments.size()) + mixed, runs);
  job.spec.environments = std::move(environments);
  job.affinity = facts.elsewhere;
  job.spec.workloads = {facts.workload};
  job.spec.limits = run_limits(config.night);
  return step;
}

// Neither overlay has to be measured where no file differs.
bool lays_over(const ConfirmationFacts& facts) {
  return facts.wheels && !facts.wheels->same_source;
}

AskForSession session_for(const ConfirmationFacts& facts, int runs, int want,
                          const Config& config) {
  const bool of_wheels = !facts.crossing && lays_over(facts);
  AskForSession step = session_of(facts,
                                  {environment_of(*facts.good_build, config.project),
                                   environment_of(*facts.bad_build, config.project)},
                                  facts.crossing || of_wheels ? 2 : 0, runs, want, config);
  step.crossing = facts.crossing;
  if (of_wheels) step.wheels = facts.wheels;
  return step;
}

// Once the packages are told from the rest: all have the good end's.
AskForSession wheel_session_for(const ConfirmationFacts& facts, int runs, int want,
                                const Config& config) {
  if (!facts.crossing) return session_for(facts, runs, want, config);
  AskForSession step =
      session_of(facts,
                 {environment_of(*facts.good_build, config.project),
                  environment_of_crossed(facts.crossing->source, *facts.bad_build, config.project)},
                 2, runs, want, config);
  step.wheels = facts.wheels;
  return step;
}

int runs_a_side(const evidence::CellValues& values) {
  return static_cast<int>(std::min(values.good.values.size(), values.bad.values.size()));
}

bool may_ask_for_more(const ConfirmationFacts& facts, int have) {
  return have < most_to_attribute && facts.asked < most_sessions;
}

bisect::AttributionVerdict verdict_on(const ConfirmationFacts& facts,
                                      const evidence::CellValues& values,
                                      bisect::OtherFactor other) {
  return facts.lead.metric == failures_metric
             ? bisect::attribute_failure(values.cells(), facts.policy, other)
             : bisect::attribute(values.cells(), facts.policy, other);
}

using Whose = std::variant<AskForSession, Attributed>;

Whose attribute_packages(const ConfirmationFacts& facts, const Config& config) {
  const auto verdict = verdict_on(facts, facts.values, bisect::OtherFactor::packages);
  const int have = runs_a_side(facts.values);
  if (verdict.more && may_ask_for_more(facts, have))
    return session_for(facts, have, 2 * have, config);
  Attributed attributed{verdict.attribution,
                        verdict.rule,
                        {evidence::of_attribution(verdict, facts.values, facts.policy)}};
  if (!facts.values.source.values.empty()) attributed.attribution.held = facts.crossing->source.id;
  return attributed;
}

// The ends that differ in the wheel and the Python files, and in nothing else.
evidence::CellValues wheel_cells(const ConfirmationFacts& facts) {
  if (!facts.wheels->same_source) return facts.wheel_values;
  return {facts.values.good, {}, {}, facts.crossing ? facts.values.source : facts.values.bad};
}

// What both verdicts come to: `packages` told the packages from the rest, `wheels` divides the
// rest.
Cause combined(Cause packages, Cause wheels) {
  if (!has_environment(packages) || wheels == Cause::unknown) return wheels;
  if (wheels == Cause::source) return Cause::both;
  return wheels == Cause::wheel ? Cause::environment_and_wheel : Cause::all_three;
}

Whose attribute_wheels(const ConfirmationFacts& facts, Attributed packages, const Config& config) {
  const evidence::CellValues cells = wheel_cells(facts);
  const int have = runs_a_side(cells);
  if (lays_over(facts) && facts.wheel_sessions == 0)
    return wheel_session_for(facts, first_to_attribute, first_to_attribute, config);
  const auto verdict = facts.wheels->same_source
                           ? bisect::attribute_to_wheel(cells.good.values, cells.bad.values)
                           : verdict_on(facts, cells, bisect::OtherFactor::wheel);
  if (verdict.more && may_ask_for_more(facts, have))
    return wheel_session_for(facts, have, 2 * have, config);
  Attributed all = std::move(packages);
  all.rule = verdict.rule;
  all.evidence.push_back(evidence::of_attribution(verdict, cells, facts.policy));
  Attribution& found = all.attribution;
  found.cause =
      facts.crossing ? combined(found.cause, verdict.attribution.cause) : verdict.attribution.cause;
  found.source = verdict.attribution.source;
  found.wheel = verdict.attribution.wheel;
  if (!cells.source.values.empty()) found.held = facts.wheels->source.build.id;
  return all;
}

// Whose the confirmed change is; or more runs that may tell. First the packages are told from the
// rest. Then the rest, which had one set of packages, is divided between wheel and source.
Whose attribute(const ConfirmationFacts& facts, const Config& config) {
  Attributed packages;
  if (facts.crossing) {
    Whose whose = attribute_packages(facts, config);
    const auto* told = std::get_if<Attributed>(&whose);
    const bool divides =
        told && facts.wheels && has_source(told->attribution.cause) && told->attribution.held;
    if (!divides) return whose;
    packages = *told;
  }
  return attribute_wheels(facts, std::move(packages), config);
}

void store(storage::Transaction& transaction, const Regression& regression,
           const Attributed& attributed, const Config& config, Time now) {
  storage::set_attribution(transaction, regression.id, attributed.attribution);
  for (const Evidence& verdict : attributed.evidence)
    storage::change_regression(transaction, regression, {RegressionState::confirmed, now, verdict});
  const Cause cause = attributed.attribution.cause;
  if (has_source(cause) || has_environment(cause)) return;  // what follows are searches
  storage::change_regression(transaction, regression,
                             {unnamed_state(config), now, evidence::of_reason(attributed.rule)});
}

// Returns the crossed builds, stored or still to be stored; nullopt: both builds have the same
// packages.
std::optional<ConfirmationFacts::Crossing> crossing_of(const EngineView& view,
                                                       const ConfirmationFacts& facts) {
  const auto &good = facts.good_build, &bad = facts.bad_build;
  if (!good || !bad || !good->lock || !bad->lock || good->lock == bad->lock) return std::nullopt;
  const auto crossed = [&](const Build& wheel, const Sha256& lock) {
    const auto stored = storage::crossed_build(view.db, wheel.id, lock);
    return stored ? *stored : cross(wheel, lock, view.clock);
  };
  return ConfirmationFacts::Crossing{crossed(*bad, *good->lock), crossed(*good, *bad->lock)};
}

// A live runner of the class that can run the workload and did not find the failure; nullopt: none.
std::optional<RunnerId> second_runner(const EngineView& view, const Regression& regression,
                                      const Series& lead) {
  std::set<RunnerId> found_it;
  for (const SeriesRun& run :
       storage::runs_of_series(view.db, lead.id, regression.night, JobKind::screen))
    if (const auto job = storage::find_job(view.db, run.job); job && job->runner)
      found_it.insert(*job->runner);
  const std::string announced =
      lead.workload_name.str() + "@" + std::to_string(lead.workload_version);
  for (const Runner& runner : live_runners(view, regression.machine))
    if (measures(runner, lead.variant, view.config.source.variant) &&
        runner.workloads.contains(announced) && found_it.count(runner.id) == 0)
      return runner.id;
  return std::nullopt;
}

// Packages that both have, or that are told apart before: then the wheels are what is left.
std::optional<WheelCrossing> wheels_of(const EngineView& view, const ConfirmationFacts& facts) {
  const auto &good = facts.good_build, &bad = facts.bad_build;
  if (!good || !bad || (good->lock != bad->lock && !facts.crossing)) return std::nullopt;
  return wheel_crossing(view, *good, *bad, overlay_use(facts.lead.workload_name));
}

// Where the runs of a build belong; nullptr: nowhere.
evidence::Values* cell_of(ConfirmationFacts& facts, BuildId build) {
  if (build == facts.regression.good) return &facts.values.good;
  if (build == facts.regression.bad) return &facts.values.bad;
  if (facts.crossing && build == facts.crossing->source.id) return &facts.values.source;
  if (facts.crossing && build == facts.crossing->environment.id) return &facts.values.other;
  return nullptr;
}

// The same among the wheels' cells.
evidence::Values* wheel_cell_of(ConfirmationFacts& facts, BuildId build) {
  const BuildId bad = facts.crossing ? facts.crossing->source.id : facts.regression.bad;
  if (build == facts.regression.good) return &facts.wheel_values.good;
  if (build == bad) return &facts.wheel_values.bad;
  if (build == facts.wheels->source.build.id) return &facts.wheel_values.source;
  if (build == facts.wheels->wheel.build.id) return &facts.wheel_values.other;
  return nullptr;
}

// With the smallest change that the series can show, if that is over its threshold.
bisect::DetectionPolicy policy_of_confirmation(const EngineView& view, const Series& series,
                                               NightId night) {
  const auto noise = noise_of(view.db, series);
  const auto policy = bisect::adapted(policy_of(series, view.config), noise);
  if (noise.kind == bisect::NoiseClass::unknown) return policy;
  const auto histories = load_histories(view, {series}, night, noise_builds);
  std::vector<double> levels;
  for (const Level& level : histories.at(series.id).levels) levels.push_back(level.value);
  return bisect::with_smallest_shown(policy,
                                     {noise.sd, bisect::nights_sd(levels, policy),
                                      bisect::runs_a_night(noise.kind, view.config.night.runs)});
}

bool is_end(const ConfirmationFacts& facts, BuildId build) {
  return build == facts.regression.good || build == facts.regression.bad;
}

bool runs_build(const Job& job, BuildId build) {
  const auto& all = job.spec.environments;
  return build && std::any_of(all.begin(), all.end(),
                              [&](const EnvironmentSpec& one) { return one.build == build; });
}

// False for a mix of both ends that fails in a way of its own, which does not help to explain the
// regression's failure.
bool says_something(const storage::Database& db, const Subject& subject, const SeriesRun& run) {
  if (!subject.is_failure()) return true;
  const auto stored = storage::find_run(db, run.run);
  return stored && subject.is_informative(stored->result);
}

// Reads a session's runs into the cells that it measured in turns. A session that compares the
// wheels with one set of packages adds nothing to the cells of the other set.
void read_runs(const storage::Database& db, const Subject& subject, const Job& job,
               ConfirmationFacts& facts) {
  const bool of_ends = runs_build(job, facts.regression.bad);
  const bool of_wheels = facts.wheels && runs_build(job, facts.wheels->source.build.id);
  facts.wheel_sessions += of_wheels;
  for (const SeriesRun& run : storage::runs_of_job(db, facts.lead.id, job.id)) {
    if (!is_end(facts, run.build) && !says_something(db, subject, run)) continue;
    for (evidence::Values* cell : {of_ends ? cell_of(facts, run.build) : nullptr,
                                   of_wheels ? wheel_cell_of(facts, run.build) : nullptr}) {
      if (!cell) continue;
      cell->values.push_back(run.value);
      cell->runs.push_back(run.run);
    }
  }
}

// `night`: all regressions of one. What a search found besides was never a suspect.
bisect::NightBar bar_of(const std::vector<Regression>& night) {
  bisect::NightBar bar{.suspects = 0};
  for (const Regression& regression : night) {
    if (regression.found_by != FoundBy::screening && regression.found_by != FoundBy::creep)
      continue;
    ++bar.suspects;
    bar.confirmed += is_real(regression.state);
  }
  return bar;
}

void apply(EngineContext&, const ConfirmationFacts&, const AwaitSessions&) {}

void apply(EngineContext& context, const ConfirmationFacts& facts, const AskForSession& step) {
  storage::write(context.db, [&](storage::Transaction& transaction) {
    Job asked = step.job;
    const auto add = [&](const Build& crossed, const Build& wheel) {
      const Build stored = storage::add_build(transaction, crossed);
      asked.spec.environments.push_back(
          environment_of_crossed(stored, wheel, context.config.project));
    };
    if (step.crossing) {
      add(step.crossing->source, *facts.bad_build);
      add(step.crossing->environment, *facts.good_build);
    }
    if (step.wheels)
      for (const LaidEnd* end : {&step.wheels->source, &step.wheels->wheel})
        asked.spec.environments.push_back(
            laid_environment(context, transaction, *end, facts.good_build->lock));
    const Job job = queue_job(transaction, std::move(asked), context.clock.now());
    storage::add_confirmation_job(transaction, job.id, comparison_of(facts.regression, facts.lead));
  });
}

void apply(EngineContext& context, const ConfirmationFacts& facts, const CutShort& step) {
  const Regression& regression = facts.regression;
  storage::write(context.db, [&](storage::Transaction& transaction) {
    leave_unconfirmed(transaction, regression, context.clock.now(), step.reason);
  });
  announce(context, regression, RegressionState::unconfirmed);
  log::warn("could not be confirmed regression={} unfinished={} reason=\"{}\"", regression.id.value,
            regression.unfinished + 1, step.reason);
}

void apply(EngineContext& context, const ConfirmationFacts& facts, const Dismiss& step) {
  const Regression& regression = facts.regression;
  const AffectedSeries& lead = regression.series.front();
  const bool creep = regression.found_by == FoundBy::creep;
  storage::Transaction transaction(context.db);
  storage::change_regression(transaction, regression,
                             {RegressionState::dismissed, context.clock.now(), step.evidence});
  storage::count_dismissed(transaction, lead.series, regression.opened_at);
  if (creep) mark_creep(transaction, regression, context.clock.now());
  if (const auto level = creep && !step.level ? std::optional(lead.after) : step.level)
    storage::set_level(transaction, {lead.series, regression.bad, regression.night, *level, 0});
  transaction.commit();
  announce(context, regression, RegressionState::dismissed);
}

void apply(EngineContext& context, const ConfirmationFacts& facts, const Confirm& step) {
  Regression regression = facts.regression;
  regression.series.front() = step.measured;
  storage::Transaction transaction(context.db);
  storage::change_regression(transaction, regression,
                             {RegressionState::confirmed, context.clock.now(), step.evidence});
  storage::set_level(transaction,
                     {step.measured.series, regression.bad, regression.night, step.measured.after,
                      static_cast<int>(facts.values.bad.values.size())});
  if (step.attributed)
    store(transaction, regression, *step.attributed, context.config, context.clock.now());
  transaction.commit();
  announce(context, regression, RegressionState::confirmed);
}

// True if the regression moved on or a session was asked for.
bool advance(EngineContext& context, const Regression& regression) {
  const auto lead = storage::find_series(context.db, regression.series.front().series);
  if (!lead) return false;
  const ConfirmationFacts facts = load_confirmation(context, regression, *lead);
  const ConfirmationStep step = decide(facts, context.config);
  std::visit([&](const auto& taken) { apply(context, facts, taken); }, step);
  return !std::holds_alternative<AwaitSessions>(step);
}

}  // namespace

ConfirmationFacts load_confirmation(const EngineView& view, const Regression& regression,
                                    const Series& lead) {
  ConfirmationFacts facts{regression,
                          lead,
                          storage::find_build(view.db, regression.good),
                          storage::find_build(view.db, regression.bad),
                          policy_of_confirmation(view, lead, regression.night),
                          expecting(view, lead, regression.night)};
  if (lead.metric == failures_metric) facts.elsewhere = second_runner(view, regression, lead);
  facts.bar = bar_of(storage::regressions_of_night(view.db, regression.night));
  const std::vector<Job> asked = confirmation_jobs(view.db, regression, lead);
  facts.asked = asked.size();
  std::vector<Job> sessions;
  for (const Job& job : asked) {
    const SessionOutcome session = outcome_of(view.db, job);
    facts.pending = session.state == SessionOutcome::State::pending;
    if (session.state == SessionOutcome::State::failed) facts.failure = session.reason;
    if (session.state != SessionOutcome::State::usable) return facts;
    sessions.push_back(session.job);
  }
  facts.crossing = crossing_of(view, facts);
  facts.wheels = wheels_of(view, facts);
  const Subject subject(view.db, regression, lead);
  for (const Job& job : sessions) read_runs(view.db, subject, job, facts);
  facts.a_build_only_fails = only_fails(view.db, sessions, regression.good) ||
                             only_fails(view.db, sessions, regression.bad);
  return facts;
}

ConfirmationStep decide(const ConfirmationFacts& facts, const Config& config) {
  using Verdict = bisect::Confirmation::Verdict;
  if (facts.pending) return AwaitSessions{};
  if (!facts.failure.empty()) return CutShort{facts.failure};
  const auto &good = facts.values.good, &bad = facts.values.bad;
  if (facts.asked >= sessions_without_runs && (good.values.empty() || bad.values.empty())) {
    if (!facts.a_build_only_fails) return CutShort{"no run saw the machine undisturbed"};
    return Dismiss{evidence::of_reason("could not be confirmed: one of the builds gave no runs"),
                   {}};
  }
  const bisect::FleetConfirmation judged =
      bisect::confirm(good.values, bad.values, facts.policy, facts.bar);
  const bisect::Confirmation& confirmation = judged.confirmation;
  if (confirmation.verdict == Verdict::more) {
    if (facts.asked >= most_sessions || !facts.good_build || !facts.bad_build)
      return CutShort{"too few runs succeeded undisturbed"};
    const int want = confirmation.runs_a_side;
    return session_for(facts, want - runs_a_side(facts.values), want, config);
  }
  const Evidence why = evidence::of_confirmation(judged, good, bad, facts.policy, facts.bar);
  if (confirmation.verdict != Verdict::worse) return Dismiss{why, level_of(confirmation, bad)};
  Confirm confirmed{
      measured_series(facts.regression.series.front().series, confirmation, good, bad), why};
  if (!facts.crossing && !facts.wheels) return confirmed;
  auto whose = attribute(facts, config);
  if (auto* ask = std::get_if<AskForSession>(&whose)) return std::move(*ask);
  confirmed.attributed = std::get<Attributed>(std::move(whose));
  return confirmed;
}

std::vector<Job> confirmation_jobs(const storage::Database& db, const SearchedChange& change,
                                   const Series& lead) {
  if (change.is_better()) return {};
  return storage::jobs_of_comparison(db, comparison_of(change, lead));
}

bool awaits_confirmation(const Regression& regression) {
  return regression.state == RegressionState::unconfirmed &&
         regression.unfinished < most_unfinished;
}

void leave_unconfirmed(storage::Transaction& transaction, Regression regression, Time now,
                       const std::string& reason) {
  ++regression.unfinished;
  const bool goes_on = regression.unfinished < most_unfinished;
  storage::change_regression(
      transaction, regression,
      {RegressionState::unconfirmed, now,
       evidence::of_reason("could not be confirmed: " + reason +
                           (goes_on
                                ? "; the next night takes it up again"
                                : "; that was the third time: compare the two builds by hand"))});
}

std::vector<Regression> confirmations_to_resume(const storage::Database& db, const Night& night,
                                                const std::set<MachineId>& machines) {
  auto waiting = storage::regressions_in_state(db, RegressionState::unconfirmed);
  std::erase_if(waiting, [&](const Regression& regression) {
    const bool later = regression.night < night.id && machines.count(regression.machine) != 0;
    return !later || !awaits_confirmation(regression);
  });
  return waiting;
}

void resume_confirmation(storage::Transaction& transaction, const Regression& regression,
                         const Night& night, Time now) {
  storage::change_regression(
      transaction, regression,
      {RegressionState::suspected, now,
       evidence::of_reason("taken up again with night " + std::to_string(night.id.value))});
}

std::set<SeriesId> series_under_suspicion(const storage::Database& db) {
  std::set<SeriesId> series;
  for (const RegressionState state : {RegressionState::suspected, RegressionState::unconfirmed})
    for (const Regression& regression : storage::regressions_in_state(db, state))
      if (state == RegressionState::suspected || awaits_confirmation(regression))
        series.insert(regression.series.front().series);
  return series;
}

bool advance_confirmations(EngineContext& context) {
  return for_each_item(context, "confirmation of regression",
                       storage::regressions_in_state(context.db, RegressionState::suspected),
                       [&](const Regression& one) { return advance(context, one); });
}

}  // namespace nightjar::service
