#include "service/engine/search/search_log.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "service/engine/jobs/sessions.hpp"
#include "service/engine/verdict/confirmations.hpp"
#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/run_value.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"
#include "storage/sessions.hpp"

namespace nightjar::service {
namespace {

class Positions {
 public:
  Positions(storage::Database& db, const Bisection& bisection) : db_(db) {
    for (std::size_t i = 0; i < bisection.commits.size(); ++i)
      by_commit_[bisection.commits[i]] = static_cast<int>(i);
    by_build_[bisection.good] = 0;
    by_build_[bisection.bad] = static_cast<int>(bisection.commits.size()) - 1;
  }

  // -1: not a build of this search.
  int of(BuildId id) {
    if (const auto known = by_build_.find(id); known != by_build_.end()) return known->second;
    const auto build = storage::find_build(db_, id);
    const auto commit = build && build->commit ? by_commit_.find(*build->commit) : by_commit_.end();
    return by_build_[id] = commit == by_commit_.end() ? -1 : commit->second;
  }

 private:
  storage::Database& db_;
  std::map<CommitSha, int> by_commit_;
  std::map<BuildId, int> by_build_;
};

// Builds of the session whose every run says nothing about `metric`, with the first reason.
std::map<BuildId, std::string> all_failed(const Job& job, const SessionResult& session,
                                          const std::string& metric) {
  std::map<BuildId, std::string> failed;
  std::map<BuildId, bool> measured;
  for (const RunResult& run : session.runs) {
    const auto index = static_cast<std::size_t>(run.order);
    if (index >= job.spec.order.size() || job.spec.order[index].is_control()) continue;
    const auto environment = static_cast<std::size_t>(job.spec.order[index].environment);
    const BuildId build = job.spec.environments.at(environment).build;
    const bool is_informative =
        run.status == RunStatus::measured || (metric == kFailures && is_failure(run.status));
    if (is_informative)
      measured[build] = true;
    else
      failed.emplace(build, run.reason);
  }
  std::erase_if(failed, [&](const auto& entry) { return measured.count(entry.first) != 0; });
  return failed;
}

// The search works on a cost: of what should be high it sees the inverse.
bool is_inverted(const Series& series) {
  const Metric* metric = find_metric(series.metric);
  return metric && metric->direction == Direction::higher_is_better;
}

bool measured_any(const Job& job, const SessionResult& session) {
  return std::any_of(session.runs.begin(), session.runs.end(), [&](const RunResult& run) {
    const auto index = static_cast<std::size_t>(run.order);
    return run.status == RunStatus::measured && index < job.spec.order.size() &&
           !job.spec.order[index].is_control();
  });
}

// True if there was a run with a value.
bool add_runs(storage::Database& db, GatheredLog& gathered, Positions& positions,
              const Series& series, const Job& job, int session, bool invert) {
  bool any = false;
  for (const SeriesRun& run : storage::runs_of_job(db, series.id, job.id)) {
    const int commit = positions.of(run.build);
    if (commit < 0 || run.value <= 0) continue;
    gathered.log.runs.push_back({session, commit, invert ? 1 / run.value : run.value});
    gathered.runs.push_back(run.run);
    any = true;
  }
  return any;
}

// Runs of a search for another metric of this workload, which ended before this search began. A
// search for peak memory has no time measured.
std::vector<Bisection> searches_with_runs_for(storage::Database& db, const Bisection& bisection,
                                              const Regression& regression, const Series& series) {
  std::vector<Bisection> searches;
  for (const Regression& other : storage::regressions_of_night(db, regression.night)) {
    const auto search = storage::bisection_of(db, other.id);
    if (other.machine != regression.machine || !search || search->id.value >= bisection.id.value)
      continue;
    const auto measured = storage::find_series(db, search->series);
    if (measured && measured->workload == series.workload &&
        (is_steady(series.metric) || !is_steady(measured->metric)))
      searches.push_back(*search);
  }
  std::sort(searches.begin(), searches.end(),
            [](const Bisection& a, const Bisection& b) { return a.id.value < b.id.value; });
  return searches;
}

using Session = std::pair<BisectionJob, Settled>;
// What became of a job that was asked for.
using Settle = std::function<Settled(const Job& asked)>;

std::vector<Session> sessions_of(storage::Database& db, const Settle& settled,
                                 const Bisection& bisection) {
  std::vector<Session> sessions;
  for (const BisectionJob& entry : storage::jobs_of_bisection(db, bisection.id))
    sessions.emplace_back(entry, settled(*storage::find_job(db, entry.job)));
  return sessions;
}

bool is_pending(const Session& session) {
  return session.second.state == Settled::State::pending;
}

// Everything but the bisection's own sessions, which follow. Returns the number of the next
// session.
int add_earlier_runs(storage::Database& db, const Settle& settled, const Bisection& bisection,
                     const Regression& regression, const Series& series, bool invert,
                     Positions& positions, GatheredLog& gathered) {
  int next = 0;
  const auto add = [&](const Settled& session, int number) {
    const std::size_t before = gathered.log.runs.size();
    add_runs(db, gathered, positions, series, session.job, number, invert);
    gathered.parts.push_back(
        {number, session.job, static_cast<int>(gathered.log.runs.size() - before), false});
  };
  for (const Job& asked : confirmation_jobs(db, regression, series)) {
    const Settled session = settled(asked);
    if (session.state == Settled::State::usable) add(session, next++);
  }
  for (const Bisection& other : searches_with_runs_for(db, bisection, regression, series)) {
    std::map<int, int> numbers;
    for (const auto& [entry, session] : sessions_of(db, settled, other)) {
      if (session.state != Settled::State::usable) continue;
      const auto [number, is_new] = numbers.emplace(entry.session, next);
      if (is_new) ++next;
      add(session, number->second);
    }
  }
  return next;
}

double seconds_of(const SessionResult& session) {
  double seconds = 0;
  for (const auto& [environment, setup] : session.setup_seconds) seconds += setup;
  for (const RunResult& run : session.runs) seconds += run.seconds;
  return seconds;
}

}  // namespace

GatheredLog gather_log(EngineContext& context, const Bisection& bisection,
                       const Regression& regression, const Series& series) {
  GatheredLog gathered;
  const Settle outcome_of = [&](const Job& asked) { return settle(context, asked); };
  const auto own = sessions_of(context.db, outcome_of, bisection);
  gathered.pending = std::any_of(own.begin(), own.end(), is_pending);
  if (gathered.pending) return gathered;
  gathered.log.commits = static_cast<int>(bisection.commits.size()) - 1;
  const bool invert = is_inverted(series);
  Positions positions(context.db, bisection);
  const int offset = add_earlier_runs(context.db, outcome_of, bisection, regression, series, invert,
                                      positions, gathered);
  std::map<int, std::string> untestable;
  for (const Untestable& known : storage::untestable_of(context.db, bisection.id))
    untestable[known.commit] = known.reason;
  for (const auto& [entry, settled] : own) {
    gathered.next_session = std::max(gathered.next_session, entry.session + 1);
    if (settled.state == Settled::State::failed) {
      ++gathered.uninformative;
      gathered.last_failure = settled.reason;
      continue;
    }
    gathered.last = settled.job;
    gathered.last_session = entry.session;
    const SessionResult result =
        storage::session_of(context.db, settled.job.id).value_or(SessionResult{});
    gathered.seconds += seconds_of(result);
    const int session = offset + entry.session;
    for (const auto& [build, reason] : all_failed(settled.job, result, series.metric)) {
      const int commit = positions.of(build);
      if (commit <= 0 || commit >= gathered.log.commits || untestable.count(commit)) continue;
      untestable[commit] = reason;
      gathered.newly_untestable.push_back({commit, reason});
    }
    const bool found_untestable = !gathered.newly_untestable.empty();  // then it was not in vain
    if (add_runs(context.db, gathered, positions, series, settled.job, session, invert))
      gathered.uninformative = gathered.disturbed = 0;
    else if (measured_any(settled.job, result))
      ++gathered.disturbed;
    else if (!found_untestable)
      ++gathered.uninformative;
  }
  for (const auto& [commit, reason] : untestable) gathered.log.untestable.push_back(commit);
  std::set<int> with_runs;
  for (const bisect::SearchRun& run : gathered.log.runs) with_runs.insert(run.session);
  gathered.sessions = static_cast<int>(with_runs.size());
  return gathered;
}

GatheredLog read_log(storage::Database& db, const Bisection& bisection,
                     const Regression& regression, const Series& series) {
  GatheredLog gathered;
  gathered.log.commits = static_cast<int>(bisection.commits.size()) - 1;
  const Settle settled = [&](const Job& asked) { return standing(db, asked); };
  const auto own = sessions_of(db, settled, bisection);
  gathered.pending = std::any_of(own.begin(), own.end(), is_pending);
  Positions positions(db, bisection);
  const int offset =
      add_earlier_runs(db, settled, bisection, regression, series, false, positions, gathered);
  for (const auto& [entry, session] : own) {
    const std::size_t before = gathered.log.runs.size();
    if (session.state == Settled::State::usable)
      add_runs(db, gathered, positions, series, session.job, offset + entry.session, false);
    gathered.parts.push_back({offset + entry.session, session.job,
                              static_cast<int>(gathered.log.runs.size() - before), true});
  }
  return gathered;
}

}  // namespace nightjar::service
