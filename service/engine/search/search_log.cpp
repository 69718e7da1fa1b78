#include "service/engine/search/search_log.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "bisect/detection.hpp"
#include "service/engine/verdict/confirmations.hpp"
#include "service/engine/verdict/subject.hpp"
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

class CommitPositions : public Positions {
 public:
  CommitPositions(const storage::Database& db, const Bisection& bisection)
      : db_(db), good_(bisection.good), bad_(bisection.bad) {
    for (std::size_t i = 0; i < bisection.commits.size(); ++i)
      by_commit_[bisection.commits[i]] = static_cast<int>(i);
    // A wheel with its own packages is no end where other packages are held.
    for (const BuildId id : {bisection.good, bisection.bad})
      if (const auto end = storage::find_build(db, id); end && end->kind == BuildKind::crossed)
        by_build_[*end->base] = -1;
    // Where an end is an overlay of the good wheel, the bad wheel did a part of the change.
    const auto bad = storage::find_build(db, bisection.bad);
    const auto of =
        bisection.regression ? storage::find_regression(db, *bisection.regression) : std::nullopt;
    if (of && bad && bad->kind == BuildKind::overlay) left_out_ = of->bad;
    if (const auto good = storage::find_build(db, bisection.good)) held_ = good->lock;
    by_build_[bisection.good] = 0;
    by_build_[bisection.bad] = static_cast<int>(bisection.commits.size()) - 1;
  }

  int of(BuildId id) override {
    if (const auto known = by_build_.find(id); known != by_build_.end()) return known->second;
    const auto build = storage::find_build(db_, id);
    const bool crossed = build && build->kind == BuildKind::crossed;
    if (crossed && build->lock != held_) return by_build_[id] = -1;
    if (left_out_ && build && build->base.value_or(build->id) == *left_out_)
      return by_build_[id] = -1;
    const auto commit = build && build->commit ? by_commit_.find(*build->commit) : by_commit_.end();
    return by_build_[id] = commit == by_commit_.end() ? -1 : commit->second;
  }

  bool is_the_end(BuildId id) const override { return id == good_ || id == bad_; }
  BuildId wheel_of(BuildId id) override {
    const auto [known, is_new] = wheels_.emplace(id, id);
    if (!is_new) return known->second;
    const auto build = storage::find_build(db_, id);
    return known->second = build && build->base ? *build->base : id;
  }

 private:
  const storage::Database& db_;
  BuildId good_, bad_;
  std::map<BuildId, BuildId> wheels_;
  std::optional<Sha256> held_;       // packages of the whole search
  std::optional<BuildId> left_out_;  // a wheel of which no run belongs to the search
  std::map<CommitSha, int> by_commit_;
  std::map<BuildId, int> by_build_;
};

// Returns why a commit is untestable if its run failed with this status.
UntestableCause cause_of(RunStatus status) {
  if (status == RunStatus::broken_environment) return UntestableCause::does_not_import;
  if (status == RunStatus::unavailable) return UntestableCause::infrastructure;
  return UntestableCause::does_not_run;
}

// Returns the builds of the session of which no run is informative about the subject, each with the
// first of its runs.
std::map<BuildId, RunResult> all_failed(const Job& job, const SessionResult& session,
                                        const Subject& subject) {
  std::map<BuildId, RunResult> failed;
  std::map<BuildId, bool> measured;
  for (const RunResult& run : session.runs) {
    const auto index = static_cast<std::size_t>(run.order);
    if (index >= job.spec.order.size() || job.spec.order[index].is_control()) continue;
    const auto environment = static_cast<std::size_t>(job.spec.order[index].environment);
    const BuildId build = job.spec.environments.at(environment).build;
    if (subject.is_informative(run))
      measured[build] = true;
    else
      failed.emplace(build, run);
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

// Places in the session's order of the runs that the subject is not about.
std::set<int> uninformative_runs(const storage::Database& db, const Job& job,
                                 const Subject& subject) {
  std::set<int> places;
  const auto session = storage::session_of(db, job.id);
  if (!session) return places;
  for (const RunResult& run : session->runs)
    if (!subject.is_informative(run)) places.insert(run.order);
  return places;
}

// Returns how many runs had a value.
int add_runs(const storage::Database& db, SearchRuns& all, Positions& positions,
             const Series& series, const Subject& subject, const Job& job, int session) {
  int added = 0;
  const auto policy = bisect::policy_of_metric(series.metric);
  const auto others =
      series.metric == failures_metric ? uninformative_runs(db, job, subject) : std::set<int>();
  for (const SeriesRun& run : storage::runs_of_job(db, series.id, job.id)) {
    const int commit = positions.of(run.build);
    const bool has_cost = bisect::judged_value(run.value, policy) > 0;
    if (commit < 0 || !has_cost || others.contains(run.order)) continue;
    all.log.runs.push_back({session, commit, run.value});
    all.runs.push_back(run.run);
    all.wheels.push_back(positions.wheel_of(run.build));
    all.builds[commit] = run.build;
    ++added;
  }
  return added;
}

// Runs of a search for another metric of this workload, which ended before this search began. A
// search for peak memory has no time measured.
std::vector<Bisection> searches_with_runs_for(const storage::Database& db,
                                              const Bisection& bisection,
                                              const SearchedChange& change, const Series& series) {
  std::vector<Bisection> searches;
  if (change.is_better()) return searches;  // it measures all by itself
  for (const Regression& other : storage::regressions_of_night(db, change.night)) {
    const auto search = storage::bisection_of(db, other.id);
    if (other.machine != change.machine || !search || search->id.value >= bisection.id.value)
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

using Session = std::pair<BisectionJob, SessionOutcome>;

std::vector<Session> sessions_of(const storage::Database& db,
                                 const std::vector<BisectionJob>& entries) {
  std::vector<Session> sessions;
  for (const BisectionJob& entry : entries)
    sessions.emplace_back(entry, outcome_of(db, *storage::find_job(db, entry.job)));
  return sessions;
}

bool is_pending(const Session& session) {
  return session.second.state == SessionOutcome::State::pending;
}

bool is_usable(const SessionOutcome& session) {
  return session.state == SessionOutcome::State::usable;
}

// Everything but the search's own sessions, which follow. Returns the number of the next session.
int add_earlier_runs(const storage::Database& db, const LogSources& sources,
                     const SearchedChange& change, const Series& series, const Subject& subject,
                     Positions& positions, SearchRuns& all) {
  int next = 0;
  const auto add = [&](const Job& job, int number) {
    const int runs = add_runs(db, all, positions, series, subject, job, number);
    all.parts.push_back({number, job, runs, false, SessionOutcome::State::usable, ""});
  };
  for (const Job& asked : confirmation_jobs(db, change, series)) {
    const SessionOutcome session = outcome_of(db, asked);
    if (is_usable(session)) add(session.job, next++);
  }
  for (const std::vector<BisectionJob>& other : sources.earlier) {
    std::map<int, int> numbers;
    for (const auto& [entry, session] : sessions_of(db, other)) {
      if (!is_usable(session)) continue;
      const auto [number, is_new] = numbers.emplace(entry.session, next);
      if (is_new) ++next;
      add(session.job, number->second);
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

// Whether the commit has runs on another wheel. Then this wheel is why it fails.
bool was_measured_elsewhere(int commit, BuildId wheel, const SearchRuns& runs) {
  for (std::size_t i = 0; i < runs.wheels.size(); ++i)
    if (runs.log.runs[i].commit == commit && runs.wheels[i] != wheel) return true;
  return false;
}

// Adds the commits that failed, and wheels on which a commit fails that is measured on another.
// False if there are none. Also false if an end failed, too, since then the machine is to blame.
bool add_untestable(const std::map<BuildId, RunResult>& failed, const SearchRuns& runs,
                    Positions& positions, SearchProgress& progress) {
  const int last_commit = runs.log.commits;
  std::map<int, const RunResult*> commits;
  bool any_wheel = false;
  for (const auto& [build, run] : failed) {
    const int commit = positions.of(build);
    const bool is_end = commit == 0 || commit == last_commit;
    const BuildId wheel = positions.wheel_of(build);
    if (is_end ? !positions.is_the_end(build) : was_measured_elsewhere(commit, wheel, runs)) {
      any_wheel |= progress.failed.emplace(commit, wheel).second;
    } else if (commit >= 0) {
      commits[commit] = &run;
    }
  }
  if (commits.empty()) return any_wheel;
  if (commits.count(0) || commits.count(last_commit)) return false;
  for (const auto& [commit, run] : commits) {
    const auto [cause, is_new] = progress.causes.emplace(commit, cause_of(run->status));
    if (is_new) progress.newly_untestable.push_back({commit, cause->second, run->reason});
  }
  return true;
}

}  // namespace

bool is_measuring(const storage::Database& db, const Bisection& bisection) {
  const auto own = sessions_of(db, storage::jobs_of_bisection(db, bisection.id));
  return std::any_of(own.begin(), own.end(), is_pending);
}

SearchRuns load_runs(const storage::Database& db, const LogSources& sources, Positions& positions,
                     const SearchedChange& change, const Series& series) {
  SearchRuns all;
  all.log.commits = sources.last;
  const Subject subject(db, change, series);
  all.first_own = add_earlier_runs(db, sources, change, series, subject, positions, all);
  for (const auto& [entry, session] : sessions_of(db, sources.own)) {
    const int number = all.first_own + entry.session;
    const int runs =
        is_usable(session) ? add_runs(db, all, positions, series, subject, session.job, number) : 0;
    all.pending |= session.state == SessionOutcome::State::pending;
    all.parts.push_back({number, session.job, runs, true, session.state, session.reason});
  }
  return all;
}

SearchRuns load_runs(const storage::Database& db, const Bisection& bisection,
                     const SearchedChange& change, const Series& series) {
  LogSources sources{static_cast<int>(bisection.commits.size()) - 1, {}, {}};
  for (const Bisection& other : searches_with_runs_for(db, bisection, change, series))
    sources.earlier.push_back(storage::jobs_of_bisection(db, other.id));
  sources.own = storage::jobs_of_bisection(db, bisection.id);
  CommitPositions positions(db, bisection);
  return load_runs(db, sources, positions, change, series);
}

bisect::SearchLog in_cost(bisect::SearchLog log, const Series& series, double threshold,
                          bool is_better) {
  const auto policy = bisect::policy_of_metric(series.metric, threshold);
  for (bisect::SearchRun& run : log.runs)
    run.value = bisect::searched_cost(run.value, policy, is_better);
  return log;
}

SearchProgress load_progress(const storage::Database& db, const SearchRuns& runs,
                             Positions& positions, const SearchedChange& change,
                             const Series& series, std::map<int, UntestableCause> causes,
                             Time since) {
  SearchProgress progress;
  progress.causes = std::move(causes);
  const Subject subject(db, change, series);
  for (const LogPart& part : runs.parts) {
    if (!part.own || part.state == SessionOutcome::State::pending) continue;
    const int number = part.session - runs.first_own;
    const int counted = part.job.created_at >= since ? 1 : 0;
    progress.next_session = std::max(progress.next_session, number + 1);
    if (part.state == SessionOutcome::State::failed) {
      progress.uninformative += counted;
      progress.last_failure = part.failure;
      continue;
    }
    progress.last = part.job;
    progress.last_session = number;
    const SessionResult result = storage::session_of(db, part.job.id).value_or(SessionResult{});
    progress.seconds += seconds_of(result);
    const bool found_untestable =  // then it was not in vain
        add_untestable(all_failed(part.job, result, subject), runs, positions, progress);
    if (part.runs > 0)
      progress.uninformative = progress.disturbed = 0;
    else if (measured_any(part.job, result))
      progress.disturbed += counted;
    else if (!found_untestable)
      progress.uninformative += counted;
  }
  std::set<int> with_runs;
  for (const bisect::SearchRun& run : runs.log.runs) with_runs.insert(run.session);
  progress.sessions = static_cast<int>(with_runs.size());
  return progress;
}

SearchProgress load_progress(const storage::Database& db, const Bisection& bisection,
                             const SearchedChange& change, const SearchRuns& runs,
                             const Series& series, Time since) {
  std::map<int, UntestableCause> causes;
  for (const Untestable& known : storage::untestable_of(db, bisection.id))
    causes[known.commit] = known.cause;
  CommitPositions positions(db, bisection);
  return load_progress(db, runs, positions, change, series, std::move(causes), since);
}

}  // namespace nightjar::service
