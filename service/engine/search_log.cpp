#include "service/engine/search_log.hpp"

#include <algorithm>

#include "service/engine/confirmations.hpp"
#include "service/engine/policy.hpp"
#include "service/engine/sessions.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/run_value.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

class Positions {
 public:
  Positions(Desk& desk, const Bisection& bisection) : desk_(desk) {
    for (std::size_t i = 0; i < bisection.commits.size(); ++i)
      by_commit_[bisection.commits[i]] = static_cast<int>(i);
    by_build_[bisection.good] = 0;
    by_build_[bisection.bad] = static_cast<int>(bisection.commits.size()) - 1;
  }

  // -1: not a build of this search.
  int of(BuildId id) {
    if (const auto known = by_build_.find(id); known != by_build_.end()) return known->second;
    const auto build = storage::find_build(desk_.db, id);
    const auto commit = build && build->commit ? by_commit_.find(*build->commit) : by_commit_.end();
    return by_build_[id] = commit == by_commit_.end() ? -1 : commit->second;
  }

 private:
  Desk& desk_;
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
    const bool tells = run.status == RunStatus::measured || (metric == kFailures && is_failure(run.status));
    if (tells) measured[build] = true;
    else failed.emplace(build, run.reason);
  }
  std::erase_if(failed, [&](const auto& entry) { return measured.count(entry.first) != 0; });
  return failed;
}

bool measured_any(const Job& job, const SessionResult& session) {
  return std::any_of(session.runs.begin(), session.runs.end(), [&](const RunResult& run) {
    const auto index = static_cast<std::size_t>(run.order);
    return run.status == RunStatus::measured && index < job.spec.order.size() &&
           !job.spec.order[index].is_control();
  });
}

// True if there was a run with a value.
bool add_runs(Desk& desk, GatheredLog& gathered, Positions& positions, const Series& series,
              const Job& job, int session, bool invert) {
  bool any = false;
  for (const SeriesRun& run : storage::runs_of_job(desk.db, series.id, job.id)) {
    const int commit = positions.of(run.build);
    if (commit < 0 || run.value <= 0) continue;
    gathered.log.runs.push_back({session, commit, invert ? 1 / run.value : run.value});
    gathered.runs.push_back(run.run);
    any = true;
  }
  return any;
}

// Runs of a search for another metric of this workload, which ended before this search began. A search
// for peak memory has no time measured.
std::vector<Bisection> searches_with_runs_for(Desk& desk, const Bisection& bisection,
                                              const Regression& regression, const Series& series) {
  std::vector<Bisection> searches;
  for (const Regression& other : storage::regressions_of_night(desk.db, regression.night)) {
    const auto search = storage::bisection_of(desk.db, other.id);
    if (other.machine != regression.machine || !search || search->id.value >= bisection.id.value) continue;
    const auto measured = storage::find_series(desk.db, search->series);
    if (measured && measured->workload == series.workload &&
        (is_steady(series.metric) || !is_steady(measured->metric)))
      searches.push_back(*search);
  }
  std::sort(searches.begin(), searches.end(),
            [](const Bisection& a, const Bisection& b) { return a.id.value < b.id.value; });
  return searches;
}

// The bisection's own sessions; nullopt while one is under way.
std::optional<std::vector<std::pair<BisectionJob, Settled>>> sessions_of(Desk& desk,
                                                                         const Bisection& bisection) {
  std::vector<std::pair<BisectionJob, Settled>> sessions;
  for (const BisectionJob& entry : storage::jobs_of_bisection(desk.db, bisection.id)) {
    Settled settled = settle(desk, *storage::find_job(desk.db, entry.job));
    if (settled.state == Settled::State::pending) return std::nullopt;
    sessions.emplace_back(entry, std::move(settled));
  }
  return sessions;
}

double seconds_of(const SessionResult& session) {
  double seconds = 0;
  for (const auto& [environment, setup] : session.setup_seconds) seconds += setup;
  for (const RunResult& run : session.runs) seconds += run.seconds;
  return seconds;
}

}  // namespace

GatheredLog gather_log(Desk& desk, const Bisection& bisection, const Regression& regression,
                       const Series& series) {
  GatheredLog gathered;
  const auto own = sessions_of(desk, bisection);
  gathered.pending = !own;
  if (!own) return gathered;
  gathered.log.commits = static_cast<int>(bisection.commits.size()) - 1;
  const bool invert = policy_of(series, desk.config).direction == Direction::higher_is_better;
  Positions positions(desk, bisection);
  int offset = 0;
  for (const Job& asked : confirmation_jobs(desk, regression, series)) {
    const Settled settled = settle(desk, asked);
    if (settled.state == Settled::State::usable)
      add_runs(desk, gathered, positions, series, settled.job, offset++, invert);
  }
  for (const Bisection& other : searches_with_runs_for(desk, bisection, regression, series)) {
    std::map<int, int> numbers;
    for (const BisectionJob& entry : storage::jobs_of_bisection(desk.db, other.id)) {
      const Settled settled = settle(desk, *storage::find_job(desk.db, entry.job));
      if (settled.state != Settled::State::usable) continue;
      const auto [number, is_new] = numbers.emplace(entry.session, offset);
      if (is_new) ++offset;
      add_runs(desk, gathered, positions, series, settled.job, number->second, invert);
    }
  }
  std::map<int, std::string> untestable;
  for (const Untestable& known : storage::untestable_of(desk.db, bisection.id))
    untestable[known.commit] = known.reason;
  for (const auto& [entry, settled] : *own) {
    gathered.next_session = std::max(gathered.next_session, entry.session + 1);
    if (settled.state == Settled::State::failed) {
      ++gathered.barren;
      gathered.last_failure = settled.reason;
      continue;
    }
    gathered.last = settled.job;
    gathered.last_session = entry.session;
    const SessionResult result = storage::session_of(desk.db, settled.job.id).value_or(SessionResult{});
    gathered.seconds += seconds_of(result);
    const int session = offset + entry.session;
    for (const auto& [build, reason] : all_failed(settled.job, result, series.metric)) {
      const int commit = positions.of(build);
      if (commit <= 0 || commit >= gathered.log.commits || untestable.count(commit)) continue;
      untestable[commit] = reason;
      gathered.newly_untestable.push_back({commit, reason});
    }
    const bool found_untestable = !gathered.newly_untestable.empty();  // then it was not in vain
    if (add_runs(desk, gathered, positions, series, settled.job, session, invert))
      gathered.barren = gathered.disturbed = 0;
    else if (measured_any(settled.job, result))
      ++gathered.disturbed;
    else if (!found_untestable)
      ++gathered.barren;
  }
  for (const auto& [commit, reason] : untestable) gathered.log.untestable.push_back(commit);
  return gathered;
}

}  // namespace nightjar::service
