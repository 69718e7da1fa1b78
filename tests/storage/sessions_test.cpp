#include <algorithm>
#include <stdexcept>

#include <catch2/catch.hpp>

#include "storage/model/json.hpp"
#include "storage/statement.hpp"
#include "tests/storage/story.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::storage;
using namespace nightjar::storage::test;

TEST_CASE("a result is stored with every raw sample and ends its job") {
  Story story;
  const Job job = story.measure("a");
  CHECK(job.state == JobState::done);
  CHECK_FALSE(job.lease_until);
  const auto session = session_of(story.db, job.id);
  REQUIRE(session);
  CHECK(nlohmann::json(*session) == nlohmann::json(Story::result()));
  CHECK_FALSE(session_of(story.db, story.queue("b").id));
}

TEST_CASE("a result that is sent again is stored once") {
  Story story;
  const Job job = story.measure("a");
  CHECK(store_result(Autocommit(story.db), job.id, job.attempt, Story::result(9, 9), at(20)) ==
        Accepted::already_stored);
  CHECK(story.db.impl().ask("SELECT count(*) FROM run") == 6);
  CHECK(session_of(story.db, job.id)->runs[1].samples["latency"][1] == 1.0);
}

TEST_CASE("a result of an attempt that lost its lease to another is stale") {
  Story story;
  const JobId id = story.queue("a").id;
  story.claim(0);
  expire_leases(Autocommit(story.db), at(100));
  REQUIRE(story.claim(200)->attempt == 2);
  CHECK(store_result(Autocommit(story.db), id, 1, Story::result(), at(210)) == Accepted::stale);
  CHECK(story.db.impl().ask("SELECT count(*) FROM run") == 0);
  CHECK(store_result(Autocommit(story.db), id, 2, Story::result(), at(220)) == Accepted::stored);
  CHECK(store_result(Autocommit(story.db), id, 1, Story::result(), at(230)) ==
        Accepted::already_stored);
}

TEST_CASE("a late result is welcome as long as nobody else has begun") {
  Story story;
  const JobId id = story.queue("a").id;
  story.claim(0);
  expire_leases(Autocommit(story.db), at(100));
  CHECK(store_result(Autocommit(story.db), id, 1, Story::result(), at(110)) == Accepted::stored);
  CHECK(find_job(story.db, id)->state == JobState::done);
  CHECK_FALSE(story.claim(120));
}

TEST_CASE("a result of a job that was cancelled or never claimed is stale") {
  Story story;
  const JobId id = story.queue("a").id;
  CHECK(store_result(Autocommit(story.db), id, 0, Story::result(), at(1)) == Accepted::stale);
  story.claim();
  cancel_job(Autocommit(story.db), id, "no longer needed");
  CHECK(store_result(Autocommit(story.db), id, 1, Story::result(), at(1)) == Accepted::stale);
}

TEST_CASE("a result with a run that was not asked for is refused as a whole") {
  Story story;
  const JobId id = story.queue("a").id;
  story.claim();
  for (const int order : {-1, 6, 0}) {
    SessionResult result = Story::result();
    result.runs[5].order = order;  // 0 comes twice then
    CHECK_THROWS_AS(store_result(Autocommit(story.db), id, 1, result, at(1)),
                    std::invalid_argument);
  }
  CHECK_THROWS_WITH(store_result(Autocommit(story.db), JobId{99}, 1, Story::result(), at(1)),
                    Catch::Contains("no job 99"));
  CHECK(story.db.impl().ask("SELECT count(*) FROM run") == 0);
  CHECK(find_job(story.db, id)->state == JobState::leased);
}

TEST_CASE("control runs are kept, but make no series") {
  Story story;
  const Job job = story.measure("a");
  const auto runs = list_runs(story.db, {job.id, {}, {}}, {}).items;
  REQUIRE(runs.size() == 6);
  for (const StoredRun& run : runs) {
    const bool control = run.result.order == 0 || run.result.order == 5;
    CHECK(!run.build == control);
    CHECK(!run.workload == control);
    CHECK(run.job == job.id);
    CHECK(run.night == story.night.id);
    CHECK(run.result.samples.at("latency").size() == 3);
  }
  CHECK(runs_of_job(story.db, story.latency().id, job.id).size() == 4);
  CHECK(list_series(story.db, {}, {}).items.size() == 3);
}

TEST_CASE("a run that measured nothing is kept with its reason, but has no value") {
  Story story;
  story.queue("a");
  const Job job = *story.claim();
  SessionResult result = Story::result();
  result.runs[1].status = RunStatus::crashed;
  result.runs[1].reason = "signal 11";
  result.runs[2].samples.clear();
  result.runs.erase(result.runs.begin() + 3);
  REQUIRE(store_result(Autocommit(story.db), job.id, 1, result, at(10)) == Accepted::stored);
  const auto values = runs_of_job(story.db, story.latency().id, job.id);
  REQUIRE(values.size() == 1);
  CHECK(values[0].order == 4);
  const auto session = session_of(story.db, job.id);
  CHECK(session->runs[1].status == RunStatus::crashed);
  CHECK(session->runs[1].reason == "signal 11");
  CHECK(session->runs.size() == 5);
}

TEST_CASE("samples of a metric that nobody knows are kept without a series") {
  Story story;
  story.queue("a");
  const Job job = *story.claim();
  SessionResult result = Story::result();
  result.runs[1].samples["throughput"] = {4.0};
  store_result(Autocommit(story.db), job.id, 1, result, at(10));
  CHECK(session_of(story.db, job.id)->runs[1].samples.at("throughput") == std::vector{4.0});
  CHECK_FALSE(find_series(story.db, story.workload.id, "throughput", story.machine.id, "cpu"));
}

TEST_CASE("an overlay's runs are in the series of its own variant") {
  Story story;
  Build overlay = nightly("2026-08-20", "2.15.0", "cu130");
  overlay.kind = BuildKind::overlay;
  overlay.base = story.good.id;
  overlay.id = add_build(Autocommit(story.db), overlay).id;
  JobSpec spec = story.spec(JobKind::bisect);
  spec.environments[1].build = overlay.id;
  story.queue("a", spec);
  const Job job = *story.claim();
  store_result(Autocommit(story.db), job.id, 1, Story::result(), at(10));
  const auto cuda = find_series(story.db, story.workload.id, "latency", story.machine.id, "cu130");
  REQUIRE(cuda);
  CHECK(runs_of_job(story.db, cuda->id, job.id).size() == 2);
  CHECK(runs_of_job(story.db, story.latency().id, job.id).size() == 2);
}

TEST_CASE("a job whose build is unknown cannot be stored, and says which") {
  Story story;
  JobSpec spec = story.spec();
  spec.environments[1].build = BuildId{77};
  story.queue("a", spec);
  const Job job = *story.claim();
  CHECK_THROWS_AS(store_result(Autocommit(story.db), job.id, 1, Story::result(), at(10)), Error);
  CHECK(find_job(story.db, job.id)->state == JobState::leased);
}

TEST_CASE("profiles of a job's runs are put together by build, and enter no series") {
  Story story;
  const Job job = story.queue("a", JobKind::profile);
  SessionResult result = Story::result();
  for (RunResult& run : result.runs) {
    Profile& profile = run.profile.emplace();
    profile.runs = {{.01, {.01, .01}, {.002, .002}, {1, 1}, {}, {}, {}}};
  }
  result.runs.front().profile.reset();
  result.runs.back().profile.reset();
  REQUIRE(store_result(Autocommit(story.db), job.id, story.claim()->attempt, result, at(9)) ==
          Accepted::stored);
  const auto profiles = profiles_of_job(story.db, job.id);
  REQUIRE(profiles.size() == 2);
  for (const auto& [build, profile] : profiles) CHECK(profile.runs.size() == 2);
  CHECK(story.db.impl().ask("SELECT count(*) FROM series_value") == 0);
  CHECK(profiles_of_job(story.db, story.queue("b").id).empty());
}

TEST_CASE("the last checks of a machine class come oldest first") {
  Story story;
  for (const double control : {1.0, 2.0, 3.0}) {
    const Job job = story.measure("job" + std::to_string(control));
    CHECK_FALSE(find_check(story.db, job.id));
    SessionCheck check{control < 3, control < 3 ? "" : "off", control};
    if (control > 1) check.gpu = {control, 5, 6};
    add_check(Autocommit(story.db), job, check);
    CHECK_THROWS_AS(add_check(Autocommit(story.db), job, {}), Error);
  }
  const auto checks = last_checks(story.db, story.machine.id, {}, 2);
  REQUIRE(checks.size() == 2);
  CHECK(checks[0].control == 2);
  CHECK(checks[1].reason == "off");
  REQUIRE(checks[1].gpu);
  CHECK(checks[1].gpu->compute == 3);
  CHECK(checks[1].gpu->bandwidth == 5);
  CHECK(checks[1].gpu->launch == 6);
  const auto of_cpu = last_checks(story.db, story.machine.id, {}, 3).front();
  CHECK_FALSE(of_cpu.gpu);
  CHECK(last_checks(story.db, MachineId{99}, {}, 2).empty());
}

TEST_CASE("readings of controls are kept, and read again by night, class and facts") {
  Story story;
  const Job first = story.measure("first");
  SessionCheck check{false, "off", 2, GpuControl{1, 5, 6}};
  check.readings = {{Gauge::cpu, .01, .05, .002}, {Gauge::gpu_compute, .001, {}, {}}};
  add_check(Autocommit(story.db), first, check);
  const auto kept = readings_of(story.db, first.id);
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].gauge == Gauge::cpu);
  CHECK(kept[0].moved == .05);
  CHECK(kept[0].unrest == .002);
  CHECK(kept[1].within == .001);
  CHECK_FALSE(kept[1].moved);

  CHECK(controls_before(story.db, first.id, 14).empty());  // its own night is not before it
  const auto later = [&](Build build) {
    const BuildId id = add_build(Autocommit(story.db), build).id;
    story.night = story.start_night(id);
    JobSpec spec = story.spec();
    spec.environments = {spec.environments[0]};
    spec.environments[0].build = id;
    spec.order = {{}, {0, 0}, {}};
    return story.queue("later:" + build.version, spec).id;
  };
  const JobId next = later(nightly("2026-08-21"));
  auto controls = controls_before(story.db, next, 14);
  std::sort(controls.begin(), controls.end(),
            [](const auto& a, const auto& b) { return a.gauge < b.gauge; });
  REQUIRE(controls.size() == 2);
  CHECK(controls[0].location == 2);
  CHECK(controls[0].within == .01);
  CHECK(controls[1].location == 1);
  CHECK(controls[1].night == first.night);
  CHECK(controls_before(story.db, next, 0).empty());
  CHECK(controls_before(story.db, later(nightly("2026-08-21", "2.15.0", "cu130")), 14).empty());
  const JobId updated = later(nightly("2026-08-23"));
  const FactsId facts =
      intern_facts(Autocommit(story.db), {story.machine.id, sha256('3'), {{"kernel", "7"}}}, at(0));
  CHECK(controls_before(story.db, updated, 14).size() == 2);
  const std::string update = "UPDATE job SET facts = " + std::to_string(facts.value) +
                             " WHERE id = " + std::to_string(updated.value);
  story.db.impl().execute(update.c_str());
  CHECK(controls_before(story.db, updated, 14).empty());
  story.machine = intern_machine(Autocommit(story.db), {{}, sha256('2'), {{"cpu_model", "6502"}}});
  CHECK(controls_before(story.db, later(nightly("2026-08-22")), 14).empty());
}

TEST_CASE("a compiled workload's accuracy is kept with its run, said or by how the run ended") {
  Story story;
  JobSpec spec = story.spec();
  spec.workloads = {story.add_workload("python/dlrm/eval/cpu/fp32/b4/inductor"), story.workload};
  spec.order = {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 1}, {}};
  story.runner.workloads.add("python/dlrm/eval/cpu/fp32/b4/inductor@1");
  story.runner = register_runner(Autocommit(story.db), story.runner);
  story.queue("a", spec);
  const auto claimed = story.claim();
  REQUIRE(claimed);
  const Job& job = *claimed;
  SessionResult result = Story::result();
  result.runs[0].accuracy = Accuracy::pass;
  result.runs[1].status = RunStatus::timed_out;
  result.runs[2].status = RunStatus::failed;
  result.runs[2].accuracy = Accuracy::eager_fail_to_run;
  result.runs[4].status = RunStatus::crashed;
  store_result(Autocommit(story.db), job.id, job.attempt, result, at(10));
  std::vector<std::optional<Accuracy>> kept;
  const auto session = session_of(story.db, job.id);
  REQUIRE(session);
  for (const RunResult& run : session->runs) kept.push_back(run.accuracy);
  using enum Accuracy;
  CHECK(kept == std::vector<std::optional<Accuracy>>{pass, timeout, eager_fail_to_run, {}, {}, {}});
  CHECK(find_run(story.db, RunId{2})->result.accuracy == timeout);
}
