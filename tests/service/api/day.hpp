// The rows of a day: two nightlies measured, a regression bisected and reported, jobs in every
// state.
#pragma once

#include "storage/calibration.hpp"
#include "storage/ci_lookups.hpp"
#include "storage/locks.hpp"
#include "storage/marks.hpp"
#include "storage/replays.hpp"
#include "storage/suites.hpp"
#include "storage/trust.hpp"
#include "tests/service/api/world.hpp"
#include "tests/support/any_state.hpp"
#include "tests/support/autocommit.hpp"

namespace nightjar::service::api {

inline CommitSha commit(int number) {
  return *CommitSha::parse(web::sha256(std::to_string(number)).str().substr(0, 40));
}

struct Day {
  Build good, bad;
  Runner runner;
  Workload workload{{}, *WorkloadName::parse(workload_text), 1};
  Night first_night, night;
  SeriesId series;
  Regression regression;
  Bisection bisection;
  std::vector<Job> leased;  // by `runner`, attempt 1
  Sha256 artifact = web::sha256(""), lock = web::sha256("sympy==1.13.3\n");
  CommitSha named = commit(5);  // in the copy of the repository; the others are not
};

inline RunResult run_result(int order, double seconds) {
  RunResult run;
  run.order = order;
  run.samples["latency"] = {seconds, seconds * 1.01, seconds * .99};
  run.cpu_seconds = run.wait_seconds = {0, 0, 0};
  run.started_at = evening;
  return run;
}

inline JobSpec job_spec(const Day& day, JobKind kind, const std::vector<Build>& builds) {
  JobSpec spec;
  spec.kind = kind;
  spec.workloads = {day.workload};
  spec.order = {PlannedRun{}};
  for (std::size_t i = 0; i < builds.size(); ++i) {
    EnvironmentSpec environment{builds[i].id, "/api/v1/artifacts/x", "torch.whl", *builds[i].sha256,
                                std::nullopt, builds[i].version,     ""};
    spec.environments.push_back(environment);
    for (int run = 0; run < 3; ++run) spec.order.push_back({static_cast<int>(i), 0});
  }
  return spec;
}

inline Job queue(World& world, const Day& day, const Night& night, JobSpec spec,
                 const std::string& key) {
  Job job;
  job.key = key;
  job.night = night.id;
  job.machine = day.runner.machine;
  job.spec = std::move(spec);
  job.created_at = evening;
  return storage::add_job(storage::Autocommit(world.db), job);
}

// Queues, claims and measures a job; `seconds`: about how long an iteration of each build took.
inline Job measure(World& world, const Day& day, const Night& night, JobKind kind,
                   const std::vector<Build>& builds, const std::vector<double>& seconds) {
  const auto key = std::string(name_of(kind)) + std::to_string(night.id.value);
  const Job queued = queue(world, day, night, job_spec(day, kind, builds), key);
  const auto job = storage::claim_job(storage::Autocommit(world.db), day.runner, evening,
                                      evening + std::chrono::hours(1));
  REQUIRE(job);
  REQUIRE(job->id == queued.id);
  SessionResult session;
  session.runs.push_back(run_result(0, .1));
  for (std::size_t i = 0; i < builds.size(); ++i)
    for (int run = 0; run < 3; ++run)
      session.runs.push_back(
          run_result(static_cast<int>(1 + i * 3) + run, seconds[i] * (1 + .001 * run)));
  session.packages["python"] = "3.11.7";
  REQUIRE(storage::store_result(storage::Autocommit(world.db), job->id, 1, session, evening) ==
          storage::Accepted::stored);
  storage::add_check(storage::Autocommit(world.db), *job, {true, "", .1});
  return *storage::find_job(world.db, job->id);
}

// One run a planned run of two builds.
inline SessionResult whole_session() {
  SessionResult session;
  for (int i = 0; i < 7; ++i) session.runs.push_back(run_result(i, 1));
  return session;
}

// A session of profiles at the day's culprit: on the GPU, the later build takes 5 ms in place of 4.
inline void add_profiles(World& world, const Day& day) {
  Job job;
  job.key = "regression:" + std::to_string(day.regression.id.value) + "/profile";
  job.night = day.night.id;
  job.machine = day.runner.machine;
  job.priority = 50;  // before the job that waits already
  job.spec = job_spec(day, JobKind::profile, {day.good, day.bad});
  job.created_at = evening;
  job = storage::add_job(storage::Autocommit(world.db), job);
  SessionResult session = whole_session();
  for (RunResult& run : session.runs) {
    if (run.order == 0) continue;  // the control
    const double kernels = run.order <= 3 ? .004 : .005;
    Profile& profile = run.profile.emplace();
    profile.runs = {{.01, {.01, .01}, {.002, .002}, {1, 1}, {}, {}, {}}};
    profile.operators = {
        {"aten::mm", {{.008, .008}}, {{kernels, kernels}}, 2, 1000, 100, 0, "fp32"}};
    profile.ceilings = Ceilings{"cpu", 1, {{"fp32", 1e6}}, 1e5};
    profile.memory = MemorySplit{.peak = 8, .parameters = 8};
  }
  const auto claimed = storage::claim_job(storage::Autocommit(world.db), day.runner, evening,
                                          evening + std::chrono::hours(1));
  REQUIRE(claimed);
  REQUIRE(claimed->id == job.id);
  REQUIRE(storage::store_result(storage::Autocommit(world.db), job.id, claimed->attempt, session,
                                evening) == storage::Accepted::stored);
}

inline Build add_nightly(World& world, int number, const std::string& date) {
  Build build;
  build.version = "2.15.0.dev" + std::to_string(number) + "+cpu";
  build.variant = "cpu";
  build.date = date;
  build.url = "http://index/" + std::to_string(number);
  build.commit = commit(number);
  build.sha256 = web::sha256(build.version);
  build.state = BuildState::proved;
  build.found_at = evening;
  return storage::add_build(storage::Autocommit(world.db), build);
}

inline Night add_night(World& world, const Build& build, NightState state) {
  Night night;
  night.build = build.id;
  night.state = state;
  night.started_at = evening;
  return storage::add_night(storage::Autocommit(world.db), night);
}

inline void add_search(World& world, Day& day) {
  Regression made;
  made.night = day.night.id;
  made.machine = day.runner.machine;
  made.good = day.good.id;
  made.bad = day.bad.id;
  made.series = {{day.series, 1.0, 1.2, 1.2, 1.15, 1.25}};
  made.opened_at = evening;
  day.regression = storage::add_regression(
      storage::Autocommit(world.db), made,
      {RegressionState::suspected, evening, R"({"rule": "screened", "tonight_runs": [2]})"});
  day.regression.culprit = Culprit{{commit(2)}, .995, 1.2, 1.15, 1.25};
  day.regression.fingerprint = "f1";
  nightjar::test::change_to_any(storage::Autocommit(world.db), day.regression,
                                {RegressionState::blamed, evening, R"({"rule": "searched"})"});
  Bisection search;
  search.regression = day.regression.id;
  search.series = day.series;
  day.named = world.commits.commit("main", "Make it faster (#5)\n\nIt is not.");
  search.commits = {commit(1), day.named, commit(2)};
  search.good = day.good.id;
  search.bad = day.bad.id;
  search.posterior = {{2, 2, .9}};
  search.started_at = evening;
  day.bisection = storage::add_bisection(storage::Autocommit(world.db), search);
  const Job job = measure(world, day, day.night, JobKind::bisect, {day.good, day.bad}, {1, 1.2});
  storage::add_bisection_job(storage::Autocommit(world.db), day.bisection.id, {job.id, 0});
  storage::add_untestable(storage::Autocommit(world.db), day.bisection.id,
                          {1, UntestableCause::does_not_import, "does not import"});
  day.bisection.runs = 6;
  day.bisection.sessions = 1;
  storage::update_bisection(storage::Autocommit(world.db), day.bisection);
  OutboxMessage message;
  message.key = "open:f1";
  message.regression = day.regression.id;
  message.title = "resnet18 is 20 % slower";
  message.body = "It is.";
  message.created_at = evening;
  storage::add_message(storage::Autocommit(world.db), message);
}

// The issue tracker refused the report for good.
inline void refuse_report(World& world, OutboxId id) {
  OutboxMessage message = storage::find_message(world.db, id).value();
  message.state = OutboxState::failed;
  message.error = "410 Issues has been disabled in this repository.";
  message.not_before = evening;
  storage::update_message(storage::Autocommit(world.db), message);
}

// One suite of one model on the first night.
inline void add_suite(World& world, const Day& day) {
  storage::SummedSuite suite;
  suite.summary.night = day.first_night.id;
  suite.summary.at = evening;
  suite.summary.key = {day.runner.machine, "cpu", "python", "eval", "cpu", "fp32", "inductor"};
  suite.summary.models = 2;
  suite.summary.passed = 1;
  SuiteMean mean{.value = 1.4, .members = 1, .members_sha256 = web::sha256("m")};
  mean.level = 1.5;
  mean.verdict = SuiteVerdict::worse;
  mean.change = SuiteChange{.93, .92, .95, 1};
  mean.allowed = .02;
  mean.reason = "it is slower";
  suite.summary.means = {mean};
  SuiteMember member;
  member.workload = day.workload.id;
  member.accuracy = Accuracy::pass;
  member.passed = true;
  member.latency = 1;
  member.values = {{SuiteMeasure::speedup, 1.4}};
  suite.members = {member};
  storage::store_suites(storage::Autocommit(world.db), day.first_night.id, {suite});
}

// Call before anything asks the API.
inline Day fill(World& world) {
  Day day;
  day.good = add_nightly(world, 1, "2026-08-19");
  day.bad = add_nightly(world, 2, "2026-08-20");
  day.workload = storage::intern_workload(storage::Autocommit(world.db), day.workload.name, 1);
  Runner runner;
  runner.name = "bench-1";
  runner.machine = storage::intern_machine(storage::Autocommit(world.db),
                                           {{}, web::sha256("cpu=x\n"), {{"cpu", "x"}}})
                       .id;
  runner.workloads = {workload_text + "@1"};
  runner.version = "1";
  runner.seen_at = evening;
  day.runner = storage::register_runner(storage::Autocommit(world.db), runner);
  day.first_night = add_night(world, day.good, NightState::done);
  day.night = add_night(world, day.bad, NightState::judging);
  measure(world, day, day.first_night, JobKind::screen, {day.good}, {1});
  measure(world, day, day.night, JobKind::screen, {day.bad}, {1.2});
  day.series = storage::series_of_night(world.db, day.night.id).at(0).id;
  storage::set_level(storage::Autocommit(world.db),
                     {day.series, day.good.id, day.first_night.id, 1, 3});
  add_search(world, day);
  add_suite(world, day);
  storage::add_improvement(storage::Autocommit(world.db),
                           {0, day.night.id, day.series, day.bad.id, 1, .8, evening});
  storage::want_ci_wheel(storage::Autocommit(world.db),
                         {.commit = *CommitSha::parse(std::string(40, 'c')), .variant = "cpu"});
  using enum CalibrationVerdict;
  storage::add_calibration(storage::Autocommit(world.db),
                           {0, JobId{1}, day.series, 0, same, 1, .98, 1.02, 10, evening});
  storage::add_calibration(storage::Autocommit(world.db),
                           {0, JobId{2}, day.series, .15, worse, 1.15, 1.1, 1.2, 10, evening});
  storage::count_judged(
      storage::Autocommit(world.db),
      {day.runner.machine, "latency", evening, 1, 40, 2, 0, SmallestSeen{40, .08, .075, .09}});
  storage::add_replay(storage::Autocommit(world.db), {day.night.id,
                                                      day.series,
                                                      .15,
                                                      ReplayOutcome::exact,
                                                      90,
                                                      evening,
                                                      {{.995, true}},
                                                      {{.3, false}, {.92, true}}});
  storage::Mark mark;
  mark.at = evening;
  mark.actor = "nightjar";
  mark.reason = "another machine";
  storage::add_mark(storage::Autocommit(world.db), mark);
  for (int i = 0; i < 4; ++i)
    queue(world, day, day.night, job_spec(day, JobKind::confirm, {day.good, day.bad}),
          "leased" + std::to_string(i));
  while (auto job = storage::claim_job(storage::Autocommit(world.db), day.runner, evening,
                                       evening + std::chrono::hours(1)))
    day.leased.push_back(*job);
  queue(world, day, day.night, job_spec(day, JobKind::confirm, {day.good, day.bad}), "queued");
  storage::add_lock(storage::Autocommit(world.db),
                    {day.lock, "sympy==1.13.3\n", {{"sympy", "1.13.3"}}}, evening);
  storage::set_attribution(storage::Autocommit(world.db), day.regression.id,
                           {Cause::source, {1.2, 1.18, 1.22}, Part{1, .99, 1.01}, {}, day.bad.id});
  const auto file = world.artifacts.temporary();
  std::ofstream(file) << "wheel bytes";
  day.artifact = world.artifacts.add(file);
  return day;
}

}  // namespace nightjar::service::api
