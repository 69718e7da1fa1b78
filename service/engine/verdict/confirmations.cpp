#include "service/engine/verdict/confirmations.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "bisect/detection.hpp"
#include "bisect/evidence/evidence.hpp"
#include "service/builds/overlay.hpp"
#include "service/engine/jobs/session_plan.hpp"
#include "service/engine/jobs/sessions.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/builds.hpp"
#include "storage/confirmations.hpp"
#include "storage/marks.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"
#include "storage/sessions.hpp"

namespace nightjar::service {
namespace {

constexpr int kPriority = 20;
// Runs that never saw the machine undisturbed have no value.
constexpr std::size_t kMostSessions = 24;
constexpr std::size_t kUninformativeSessions = 6;  // after which a build still has no run at all
constexpr int kMostUnfinished = 3;                 // nights that try to confirm a suspicion

storage::Comparison comparison_of(const Regression& regression, const Series& lead) {
  return {regression.night, regression.machine, lead.workload,
          regression.good,  regression.bad,     regression.unfinished + 1};
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

void ask_for(EngineContext& context, const Regression& regression, const Series& lead, int have,
             int want) {
  const std::size_t asked = confirmation_jobs(context, regression, lead).size();
  if (asked >= kMostSessions) return;
  const auto good = storage::find_build(context.db, regression.good);
  const auto bad = storage::find_build(context.db, regression.bad);
  if (!good || !bad) return;
  Job job;
  const storage::Comparison comparison = comparison_of(regression, lead);
  job.key = key_of(comparison, lead, want, asked);
  job.night = regression.night;
  job.machine = regression.machine;
  job.priority = kPriority;
  job.spec.kind = JobKind::confirm;
  job.spec.environments = {environment_of(*good), environment_of(*bad)};
  job.spec.workloads = {{lead.workload, lead.workload_name, lead.workload_version}};
  job.spec.order = pair_order(want - have);
  job.spec.limits = run_limits(context.config.night);
  storage::Transaction transaction(context.db);
  storage::add_confirmation_job(transaction, queue_job(context, std::move(job)).id, comparison);
  transaction.commit();
}

void announce(EngineContext& context, const Regression& regression, RegressionState state) {
  context.publish("regression",
                  nlohmann::json{{"id", regression.id.value}, {"state", name_of(state)}}.dump());
}

// Builds weeks apart do not differ side by side: the machine crept. The series begins anew.
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

// `now`: the level that was measured side by side, if that said that the builds do not differ.
// Without it the new build is no level: the next night is held against the last good one again.
void dismiss(EngineContext& context, const Regression& regression, const std::string& why,
             std::optional<double> now = {}) {
  const bool creep = regression.found_by == FoundBy::creep;
  storage::Transaction transaction(context.db);
  storage::change_regression(transaction, regression,
                             {RegressionState::dismissed, context.clock.now(), why});
  if (creep) mark_creep(transaction, regression, context.clock.now());
  const AffectedSeries& lead = regression.series.front();
  if (creep && !now) now = lead.after;
  if (now)
    storage::set_level(transaction, {lead.series, regression.bad, regression.night, *now, 0});
  transaction.commit();
  announce(context, regression, RegressionState::dismissed);
}

void cut_short(EngineContext& context, const Regression& regression, const std::string& reason) {
  storage::write(context.db, [&](storage::Transaction& transaction) {
    leave_unconfirmed(transaction, regression, context.clock.now(), reason);
  });
  announce(context, regression, RegressionState::unconfirmed);
  spdlog::warn("could not be confirmed regression={} unfinished={} reason=\"{}\"",
               regression.id.value, regression.unfinished + 1, reason);
}

// True if the sessions ran `build`, and all that it did was fail.
bool only_fails(EngineContext& context, const std::vector<Job>& sessions, BuildId build) {
  bool failed = false;
  for (const Job& job : sessions) {
    const auto session = storage::session_of(context.db, job.id);
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

void accept(EngineContext& context, Regression regression, const bisect::Confirmation& confirmation,
            const evidence::Values& good, const evidence::Values& bad, const std::string& why) {
  AffectedSeries& lead = regression.series.front();
  lead.before = bisect::hodges_lehmann(good.values);
  lead.after = bisect::hodges_lehmann(bad.values);
  lead.ratio = confirmation.change.ratio;
  lead.low = confirmation.change.low;
  lead.high = confirmation.change.high;
  storage::Transaction transaction(context.db);
  storage::change_regression(transaction, regression,
                             {RegressionState::confirmed, context.clock.now(), why});
  storage::set_level(transaction, {lead.series, regression.bad, regression.night, lead.after,
                                   static_cast<int>(bad.values.size())});
  transaction.commit();
  announce(context, regression, RegressionState::confirmed);
}

std::optional<double> level_of(const bisect::Confirmation& confirmation,
                               const evidence::Values& bad) {
  using enum bisect::Confirmation::Verdict;
  const bool known = confirmation.verdict == same || confirmation.verdict == better;
  return known ? std::optional(bisect::hodges_lehmann(bad.values)) : std::nullopt;
}

void judge(EngineContext& context, const Regression& regression, const Series& lead,
           const evidence::Values& good, const evidence::Values& bad) {
  using Verdict = bisect::Confirmation::Verdict;
  const auto policy = learned_policy(context, lead);
  const bisect::Confirmation confirmation = bisect::confirm(good.values, bad.values, policy);
  const int have = static_cast<int>(std::min(good.values.size(), bad.values.size()));
  if (confirmation.verdict == Verdict::more) {
    ask_for(context, regression, lead, have, confirmation.runs_a_side);
    return;
  }
  const std::string why = evidence::of_confirmation(confirmation, good, bad, policy);
  if (confirmation.verdict == Verdict::worse)
    accept(context, regression, confirmation, good, bad, why);
  else
    dismiss(context, regression, why, level_of(confirmation, bad));
}

// True if the regression moved on or a session was asked for.
bool advance(EngineContext& context, const Regression& regression) {
  const auto lead = storage::find_series(context.db, regression.series.front().series);
  if (!lead) return false;
  evidence::Values good, bad;
  std::vector<Job> sessions;
  const std::vector<Job> asked = confirmation_jobs(context, regression, *lead);
  for (const Job& job : asked) {
    const Settled settled = settle(context, job);
    if (settled.state == Settled::State::pending) return false;
    if (settled.state == Settled::State::failed) {
      cut_short(context, regression, settled.reason);
      return true;
    }
    sessions.push_back(settled.job);
    for (const SeriesRun& run : storage::runs_of_job(context.db, lead->id, settled.job.id)) {
      evidence::Values& side = run.build == regression.good ? good : bad;
      side.values.push_back(run.value);
      side.runs.push_back(run.run);
    }
  }
  if (asked.size() >= kUninformativeSessions && (good.values.empty() || bad.values.empty())) {
    if (only_fails(context, sessions, regression.good) ||
        only_fails(context, sessions, regression.bad))
      dismiss(context, regression,
              evidence::of_reason("could not be confirmed: one of the builds gave no runs"));
    else
      cut_short(context, regression, "no run saw the machine undisturbed");
    return true;
  }
  const std::size_t jobs_before = asked.size();
  judge(context, regression, *lead, good, bad);
  const auto now = storage::find_regression(context.db, regression.id);
  const bool stuck = now->state == RegressionState::suspected &&
                     confirmation_jobs(context, regression, *lead).size() == jobs_before;
  if (stuck) cut_short(context, regression, "too few runs succeeded undisturbed");
  return true;
}

}  // namespace

std::vector<Job> confirmation_jobs(storage::Database& db, const Regression& regression,
                                   const Series& lead) {
  return storage::jobs_of_comparison(db, comparison_of(regression, lead));
}

bool awaits_confirmation(const Regression& regression) {
  return regression.state == RegressionState::unconfirmed &&
         regression.unfinished < kMostUnfinished;
}

void leave_unconfirmed(storage::Transaction& transaction, Regression regression, Time now,
                       const std::string& reason) {
  ++regression.unfinished;
  const bool goes_on = regression.unfinished < kMostUnfinished;
  storage::change_regression(
      transaction, regression,
      {RegressionState::unconfirmed, now,
       evidence::of_reason("could not be confirmed: " + reason +
                           (goes_on
                                ? "; the next night takes it up again"
                                : "; that was the third time: compare the two builds by hand"))});
}

void resume_confirmations(EngineContext& context, const Night& night,
                          const std::set<MachineId>& machines) {
  for (const Regression& regression :
       storage::regressions_in_state(context.db, RegressionState::unconfirmed)) {
    const bool later = regression.night < night.id && machines.count(regression.machine) != 0;
    if (!later || !awaits_confirmation(regression)) continue;
    storage::write(context.db, [&](storage::Transaction& transaction) {
      storage::change_regression(
          transaction, regression,
          {RegressionState::suspected, context.clock.now(),
           evidence::of_reason("taken up again with night " + std::to_string(night.id.value))});
    });
    announce(context, regression, RegressionState::suspected);
  }
}

std::set<SeriesId> series_under_suspicion(storage::Database& db) {
  std::set<SeriesId> series;
  for (const RegressionState state : {RegressionState::suspected, RegressionState::unconfirmed})
    for (const Regression& regression : storage::regressions_in_state(db, state))
      if (state == RegressionState::suspected || awaits_confirmation(regression))
        series.insert(regression.series.front().series);
  return series;
}

bool advance_confirmations(EngineContext& context) {
  bool changed = false;
  for (const Regression& regression :
       storage::regressions_in_state(context.db, RegressionState::suspected))
    changed |= advance(context, regression);
  return changed;
}

}  // namespace nightjar::service
