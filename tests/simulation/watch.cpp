#include "tests/simulation/watch.hpp"

#include <algorithm>

#include "service/engine/jobs/live_runners.hpp"
#include "service/engine/outcome/digests.hpp"
#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/connection.hpp"
#include "storage/digests.hpp"
#include "storage/fixes.hpp"
#include "storage/jobs.hpp"
#include "storage/locks.hpp"
#include "storage/model/json.hpp"
#include "storage/nights.hpp"
#include "storage/outbox.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"
#include "storage/series.hpp"
#include "storage/sessions.hpp"
#include "storage/statement.hpp"

namespace nightjar::simulation {
namespace {
using storage::Database;

constexpr int all_seeds = 1000;
constexpr std::size_t ticks = 1000;  // whose plans are remembered
constexpr NightId end_of_nights{1ll << 60};

[[noreturn]] void violated(std::string invariant, std::string what) {
  throw Violation{std::move(invariant), std::move(what)};
}

std::string text_of(const Regression& regression) {
  return "regression " + std::to_string(regression.id.value) + " (" +
         std::string(name_of(regression.state)) + ")";
}

std::string text_of(const FixSearch& fix) {
  return "the search for the fix of build " + std::to_string(fix.build.value);
}

std::string text_of(const Step& step) {
  return "step of " + std::to_string(step.factor) + " at commit " + std::to_string(step.commit) +
         " in " + step.metric + " of " + step.workload;
}

std::string text_of(const WheelChange& change) {
  return "wheel's change of " + std::to_string(change.factor) + " on day " +
         std::to_string(change.day) + " in " + change.metric + " of " + change.workload;
}

// Makes facts as the agents do.
int class_of(const Database& db, MachineId id) {
  const auto facts = storage::find_machine(db, id).value().facts;
  return std::stoi(facts.at("cpu_model").substr(6));
}

bool shows(const Database& db, const Effect& effect, const Series& series) {
  return series.workload_name.str() == effect.workload && series.metric == effect.metric &&
         effect.classes.contains(class_of(db, series.machine));
}

int position_of(const Database& db, const Truth& truth, BuildId id) {
  return truth.position(*storage::find_build(db, id).value().commit);
}

// The day of a nightly, or of the one whose wheel a crossed build is.
int day_of(const Database& db, const Truth& truth, BuildId id) {
  const Build build = storage::find_build(db, id).value();
  return truth.nightly(build.base ? storage::find_build(db, *build.base).value() : build);
}

// Whether somebody was told of it, or is going to be.
bool stands(const Regression& regression) {
  using enum RegressionState;
  return regression.state != dismissed && regression.state != merged &&
         regression.state != suspected && regression.state != unconfirmed;
}

const std::vector<CommitSha>& named(const Regression& regression) {
  static const std::vector<CommitSha> nobody;
  if (regression.culprit) return regression.culprit->commits;
  return regression.range ? regression.range->commits : nobody;
}

std::vector<Regression> all_regressions(const Database& db) {
  return storage::list_regressions(db, {}, {all_seeds, {}}).items;
}

std::vector<FixSearch> all_fixes(const Database& db) {
  std::vector<FixSearch> fixes;
  for (const Bisection& search : storage::list_bisections(db, {all_seeds, {}}).items)
    if (search.fix) fixes.push_back(storage::find_fix_search(db, *search.fix).value());
  return fixes;
}

}  // namespace

void Watch::stored(const Database& db, int database, const Held& held) {
  const std::string job = "job " + std::to_string(held.job.value);
  if (!has_claim(database, held))
    violated("no result of another build", job + " took what was measured for another database");
  if (!stored_.emplace(database, held.job).second)
    violated("nothing stored twice", job + " took two results");
  const Job row = storage::find_job(db, held.job).value();
  for (std::size_t i = 0; i < row.spec.environments.size(); ++i)
    if (i >= held.builds.size() || row.spec.environments[i].version != held.builds[i])
      violated("no result of another build", job + " is of another build than its result");
}

void Watch::failed_run(const Database& db, const Message& message) const {
  const auto session = storage::session_of(db, message.held->job).value();
  const RunResult& first = session.runs.at(0);
  const bool told = first.status == RunStatus::failed && !first.reason.empty();
  if (!told || !first.samples.empty())
    violated("a lie about a run is that run's failure", message.lie + " was stored as measured");
}

void Watch::restored(Time copied) {
  copied_.push_back(copied);
  last_heard_.clear();
}

// The database in which the job was claimed, or a copy of it that was made after that. The claim's
// lease is over by the time of a restore, unless the clock was set back.
bool Watch::has_claim(int database, const Held& held) const {
  if (held.database > database) return false;
  return std::all_of(copied_.begin() + held.database, copied_.begin() + database,
                     [&](Time copied) { return held.at <= copied; });
}

// By a clock that nobody can set.
void Watch::claimed(const Database& db, const Held& held, Time now, std::chrono::seconds lease) {
  const auto job = storage::find_job(db, held.job);
  if (!job || !job->runner) return;
  holders_[{held.database, held.job}].insert(*job->runner);
  Lease& known = leases_[{held.database, held.job}];
  if (known.holds && known.runner != *job->runner && now - known.at < lease)
    violated("a lease is not given away", "job " + job->key + " went to a second runner");
  known = {*job->runner, held.attempt, now, true};
}

void Watch::measures(const Build& wheel) const {
  if (wheel.state != BuildState::proved)
    violated("no broken package is measured", wheel.version + " is " + wheel.reason);
}

void Watch::answered(const std::string& path, const Answer& answer, int database, Time now) {
  const std::string jobs = "/jobs/";
  const auto at = path.find(jobs);
  if (at == std::string::npos) return;
  const auto known = leases_.find({database, JobId{std::stoll(path.substr(at + jobs.size()))}});
  if (known == leases_.end()) return;
  Lease& lease = known->second;
  if (answer.status == 0 || answer.status >= 500) lease.holds = false;  // nobody knows
  if (answer.status != 200) return;
  if (path.ends_with("/renew"))
    lease.at = now;
  else if (answer.json.value("accepted", "") != "stale")
    lease.holds = false;
}

std::int64_t Watch::sessions_in(const Database& db) {
  return db.impl().ask("SELECT count(*) FROM session");
}

void Watch::lied(const Database& db, const std::string& lie, const Answer& answer,
                 std::int64_t before, bool disk_fails) {
  if (sessions_in(db) != before) violated("a lie is refused", lie + " was stored");
  const auto accepted = answer.status == 200 && answer.json.is_object()
                            ? answer.json.value("accepted", "")
                            : std::string();
  const bool told = answer.status >= 400 && answer.status < 500 && answer.json.is_object() &&
                    !answer.json.value("detail", "").empty();
  const bool passed_over = accepted == "stale" || accepted == "already_stored";
  if (!told && !passed_over && !(disk_fails && answer.status >= 500))
    violated("a lie is refused", lie + " was answered with status " +
                                     std::to_string(answer.status) + " " + answer.json.dump());
}

void Watch::forget_times() {
  leases_.clear();
  last_heard_.clear();
}

void Watch::began(const Database& db, int database, bool lost_power) {
  try {
    if (lost_power) db.impl().require_sound("integrity_check");
  } catch (const storage::Error& error) {
    violated("the database stays sound", error.what());
  }
  for (const auto& [held_in, id] : stored_) {
    const auto job = held_in == database ? storage::find_job(db, id) : std::nullopt;
    if (held_in == database && (!job || job->state != JobState::done))
      violated("nothing acknowledged is lost", "the result of job " + std::to_string(id.value));
  }
  for (const auto& [where, lease] : leases_) {
    const auto job = where.first == database ? storage::find_job(db, where.second) : std::nullopt;
    if (where.first == database && (!job || job->attempt < lease.attempt))
      violated("nothing acknowledged is lost",
               "the claim of job " + std::to_string(where.second.value));
  }
}

void Watch::check_leases(const Database& db, Time now, std::chrono::seconds lease) const {
  constexpr std::chrono::seconds corrected{10};  // less is no step of a clock
  storage::Statement find(db,
                          "SELECT key, lease_until_us FROM job WHERE state = 'leased' "
                          "ORDER BY lease_until_us DESC LIMIT 1");
  if (!find.step()) return;
  const auto key = find.next<std::string>();
  if (find.next<Time>() > now + lease + corrected)
    violated("no lease holds for ever", "job " + key + " holds for longer than a lease");
}

void Watch::put_off(const Database& db, const Held& held,
                    const std::vector<std::unique_ptr<Agent>>& agents) const {
  const auto job = storage::find_job(db, held.job);
  const auto holders = holders_.find({held.database, held.job});
  if (plan_.has(Fault::clock)) return;  // when a job was made is not known then
  if (!job || job->state != JobState::failed || holders == holders_.end()) return;
  for (const auto& agent : agents)
    if (agent->machine() == job->machine && agent->can_run(job->spec) &&
        agent->is_well_since(job->created_at) && !holders->second.contains(agent->runner()))
      violated("a sick runner fails no job",
               "job " + job->key + " failed and was never given to " + agent->name());
}

void Watch::heard(const Agent& agent, Time now, std::chrono::seconds silent) {
  Heard& last = last_heard_[agent.runner()];
  if (!last.instance.empty() && last.instance != agent.instance() && now - last.at < silent)
    violated("one host a runner", "two hosts work as " + agent.name());
  last = {agent.instance(), now};
}

void Watch::before_tick(const service::EngineContext& engine) {
  auto& now = runnable_[engine.clock.now()];
  for (const Runner& runner : service::live_runners(engine))
    now[runner.machine].insert(runner.workloads.begin(), runner.workloads.end());
  while (runnable_.size() > ticks) runnable_.erase(runnable_.begin());
}

void Watch::check_safety(const Database& db) const {
  check_plans(db);
  check_blame(db);
  check_fixes(db);
  check_levels(db);
  check_issues();
  check_digests();
}

// A culprit holds a step of what it is blamed for; its other commits cannot be tested. A range
// blames nobody: it may also be what lies between two wheels that differ.
void Watch::check_blame(const Database& db) const {
  for (const Regression& regression : all_regressions(db)) {
    const auto& commits = named(regression);
    if (commits.empty() || !stands(regression)) continue;
    const bool may_be_wheels = !regression.culprit && has_wheel_change(db, regression);
    if (!holds_one(plan_.steps, commits) && !may_be_wheels)
      violated("no innocent blamed", text_of(regression) + " names no planted commit");
    if (regression.culprit && neighbours_testable(commits))
      violated("no innocent blamed",
               text_of(regression) + " names a neighbour that could have been tested");
  }
}

bool Watch::holds_one(const std::vector<Step>& steps, const std::vector<CommitSha>& commits) const {
  return std::any_of(commits.begin(), commits.end(), [&](const CommitSha& sha) {
    return std::any_of(steps.begin(), steps.end(),
                       [&](const Step& step) { return step.commit == truth_.position(sha); });
  });
}

// Whether one of its series shows a change of the wheel between its ends.
bool Watch::has_wheel_change(const Database& db, const Regression& regression) const {
  return std::any_of(plan_.wheels.begin(), plan_.wheels.end(), [&](const WheelChange& change) {
    const bool between = day_of(db, truth_, regression.good) < change.day &&
                         change.day <= day_of(db, truth_, regression.bad);
    return between &&
           std::any_of(regression.series.begin(), regression.series.end(),
                       [&](const AffectedSeries& one) {
                         return shows(db, change, storage::find_series(db, one.series).value());
                       });
  });
}

// Whether one beside the last of them could have been tested.
bool Watch::neighbours_testable(const std::vector<CommitSha>& commits) const {
  for (std::size_t i = 0; i + 1 < commits.size(); ++i)
    if (truth_.is_testable(truth_.position(commits[i]))) return true;
  return false;
}

// What a search says made a build better did so.
void Watch::check_fixes(const Database& db) const {
  for (const FixSearch& fix : all_fixes(db))
    for (const NamedCause& cause : fix.causes) {
      if (!holds_one(plan_.gains, cause.commits.commits))
        violated("no innocent praised", text_of(fix) + " names no planted commit");
      if (!cause.is_range && neighbours_testable(cause.commits.commits))
        violated("no innocent praised",
                 text_of(fix) + " names a neighbour that could have been tested");
    }
}

int Watch::named_gains(const Database& db) const {
  const auto fixes = all_fixes(db);
  return static_cast<int>(
      std::count_if(plan_.gains.begin(), plan_.gains.end(), [&](const Step& one) {
        return std::any_of(fixes.begin(), fixes.end(), [&](const FixSearch& fix) {
          return std::any_of(fix.causes.begin(), fix.causes.end(), [&](const NamedCause& cause) {
            return !cause.is_range && holds_one({one}, cause.commits.commits);
          });
        });
      }));
}

// Checks that a level with a step in it follows from a regression that is reported.
void Watch::check_levels(const Database& db) const {
  for (const Step& step : plan_.steps)
    check_levels(db, step, text_of(step),
                 [&](BuildId build) { return position_of(db, truth_, build) < step.commit; });
  for (const WheelChange& change : plan_.wheels)
    if (change.is_worse())
      check_levels(db, change, text_of(change),
                   [&](BuildId build) { return day_of(db, truth_, build) < change.day; });
}

// `is_before(build)`: the build does not have the effect yet.
template <class IsBefore>
void Watch::check_levels(const Database& db, const Effect& effect, const std::string& name,
                         IsBefore is_before) const {
  const auto regressions = all_regressions(db);
  for (const Series& series : storage::list_series(db, {}, {all_seeds, {}}).items) {
    if (!shows(db, effect, series)) continue;
    bool before = false, after = false;
    for (const Level& level : storage::levels_before(db, series.id, end_of_nights, all_seeds))
      (is_before(level.build) ? before : after) = true;
    if (!before || !after) continue;
    const bool known =
        std::any_of(regressions.begin(), regressions.end(), [&](const Regression& regression) {
          return (stands(regression) || regression.state == RegressionState::merged) &&
                 regression.machine == series.machine && !is_before(regression.bad) &&
                 std::any_of(regression.series.begin(), regression.series.end(),
                             [&](const auto& one) { return one.series == series.id; });
        });
    if (!known)
      violated("no level from a suspect",
               "the " + name + " is in a level of series " + std::to_string(series.id.value));
  }
}

// All that the runners of a class could run was planned at once, or nothing of it.
void Watch::check_plans(const Database& db) const {
  std::map<std::pair<MachineId, Time>, std::set<std::string>> planned;
  storage::Statement find(db,
                          "SELECT machine, created_at_us, workload FROM job "
                          "JOIN job_workload ON job_workload.job = job.id "
                          "WHERE night = ? AND kind = 'screen' AND repeats IS NULL");
  find.bind(storage::newest_night(db));
  while (find.step()) {
    const auto machine = find.next<MachineId>();
    const auto at = find.next<Time>();
    planned[{machine, at}].insert(find.next<std::string>());
  }
  for (const auto& [where, workloads] : planned) {
    const auto then = runnable_.find(where.second);
    if (then == runnable_.end()) continue;
    const auto could = then->second.find(where.first);
    if (could != then->second.end() && could->second != workloads)
      violated("a night is planned whole", "class " + std::to_string(where.first.value) + " has " +
                                               std::to_string(workloads.size()) + " of " +
                                               std::to_string(could->second.size()) + " workloads");
  }
}

void Watch::check_issues() const {
  std::set<std::string> markers;
  for (const auto& issue : tracker_.issues()) {
    const auto at = issue.body.rfind("<!--");
    if (at == std::string::npos || !markers.insert(issue.body.substr(at)).second)
      violated("one issue per cause", "two issues have one marker: " + issue.title);
  }
}

// Each ends on another day.
void Watch::check_digests() const {
  std::set<std::string> told;
  for (const auto& issue : tracker_.issues()) {
    const std::string begin = "Nightjar from ", end = issue.title.substr(0, issue.title.find(':'));
    if (issue.title.starts_with(begin) && !told.insert(end.substr(end.find(" to "))).second)
      violated("one digest a period", "two issues tell of it: " + issue.title);
  }
}

void Watch::check_period(const Database& db, const service::Config& config, Time before) const {
  const auto period = service::finished_period(config.report.digest, before);
  if (period && !storage::has_digest(db, period->until))
    violated("every period is told", "that until " + to_rfc3339(period->until) + " is not");
}

void Watch::check_liveness(const Database& db) const {
  for (const Night& night : storage::open_nights(db))
    violated("every night ends", "night " + std::to_string(night.id.value) + " is still " +
                                     std::string(name_of(night.state)));
  for (const JobState state : {JobState::queued, JobState::leased})
    for (const Job& job : storage::list_jobs(db, {state, {}}, {1, {}}).items)
      violated("no job waits for ever",
               "job " + job.key + " is still " + std::string(name_of(state)));
  for (const OutboxMessage& message : storage::list_messages(db, {all_seeds, {}}).items)
    if (message.state != OutboxState::sent)
      violated("every message is sent",
               message.key + " is " + std::string(name_of(message.state)) + ": " + message.error);
  const auto newest = storage::newest_proved(db, "cpu");
  if (newest && !storage::find_night_of_build(db, newest->id))
    violated("every build has its night", "nobody planned one of " + newest->version);
  using enum RegressionState;
  for (const RegressionState state : {suspected, confirmed, bisecting, blamed, unattributed, range})
    for (const Regression& regression : storage::regressions_in_state(db, state))
      violated("every regression is decided", text_of(regression) + " goes nowhere");
  for (const Bisection& search : storage::open_bisections(db))
    violated("every search ends", "bisection " + std::to_string(search.id.value) + " is open");
  for (const Step& step : plan_.steps) check_told(db, step);
  for (const WheelChange& change : plan_.wheels)
    if (change.is_worse()) check_told(db, change);
}

// Once, by the issue that names it or, where machines failed the search, by one without a name.
void Watch::check_told(const Database& db, const Step& step) const {
  std::vector<std::string> issues;
  std::set<int> told;
  for (const Regression& regression : all_regressions(db)) {
    if (!stands(regression)) continue;
    const auto& commits = named(regression);
    const bool names =
        std::find(commits.begin(), commits.end(), truth_.commit(step.commit)) != commits.end();
    std::set<int> classes;
    for (const AffectedSeries& affected : regression.series) {
      const Series series = storage::find_series(db, affected.series).value();
      if (shows(db, step, series)) classes.insert(class_of(db, series.machine));
    }
    const bool covers = commits.empty() && !classes.empty() &&
                        position_of(db, truth_, regression.good) < step.commit &&
                        step.commit <= position_of(db, truth_, regression.bad);
    if (!names && !covers) continue;
    issues.push_back(text_of(regression));
    told.insert(classes.begin(), classes.end());
  }
  if (issues.empty()) violated("every step is told", "nobody was told of the " + text_of(step));
  if (issues.size() > 1)
    violated("one issue per cause", std::to_string(issues.size()) + " regressions tell of the " +
                                        text_of(step) + ": " + issues.front() + ", " +
                                        issues.back());
  for (const int machine : step.classes)
    if (!told.contains(machine))
      violated("every step is told with its classes",
               "the " + text_of(step) + " is not told of class " + std::to_string(machine));
}

// Once on each class, without the name of a commit. Where all commits are Python and nothing fails,
// it is known that the wheel did it.
void Watch::check_told(const Database& db, const WheelChange& change) const {
  std::map<int, int> told;  // by class
  for (const Regression& regression : all_regressions(db)) {
    if (!stands(regression) || regression.culprit || !has_wheel_change(db, regression)) continue;
    std::set<int> classes;
    for (const AffectedSeries& affected : regression.series) {
      const Series series = storage::find_series(db, affected.series).value();
      if (shows(db, change, series)) classes.insert(class_of(db, series.machine));
    }
    for (const int machine : classes) ++told[machine];
    const auto attribution = storage::attribution_of(db, regression.id);
    const bool is_explained = attribution && has_wheel(attribution->cause);
    if (plan_.native.empty() && plan_.faults.empty() && !classes.empty() && !is_explained)
      violated("a wheel's change is explained",
               text_of(regression) + " does not say that the wheel did it");
  }
  for (const int machine : change.classes) {
    if (told[machine] == 0)
      violated("every wheel's change is told",
               "the " + text_of(change) + " is not told of class " + std::to_string(machine));
    if (told[machine] > 1)
      violated("a wheel's change is told once",
               "the " + text_of(change) + " is told " + std::to_string(told[machine]) + " times");
  }
}

}  // namespace nightjar::simulation
