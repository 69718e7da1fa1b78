#include "service/engine/jobs/claimable.hpp"

#include <set>
#include <tuple>

#include <catch2/catch.hpp>

#include "tests/service/engine/night_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using namespace nightjar::service::test;
using namespace std::chrono_literals;

namespace {

const Time some_time = *parse_rfc3339("2026-08-20T08:00:00Z");

Runner live_runner(int id, int machine, std::vector<std::string> workloads = {"a@1", "b@1"}) {
  Runner runner;
  runner.id = RunnerId{id};
  runner.machine = MachineId{machine};
  runner.workloads = std::move(workloads);
  return runner;
}

Runner of_variant(const std::string& label, Runner runner) {
  runner.labels["variant"] = label;
  return runner;
}

QueueFacts facts(std::vector<Runner> live) {
  return {some_time, {{JobId{1}, MachineId{1}, {}, {"a@1", "b@1"}, {}, "cpu"}}, std::move(live)};
}

// By the usual configuration: it has a patience of a day, and its first source is of variant cpu.
std::vector<QueueStep> steps_for(const QueueFacts& facts) {
  return decide(facts, Config{});
}

// The one step that is decided on, if it is of this kind.
template <class Step>
std::optional<Step> only_step(const QueueFacts& facts) {
  const auto steps = steps_for(facts);
  if (steps.size() != 1 || !std::holds_alternative<Step>(steps[0])) return std::nullopt;
  return std::get<Step>(steps[0]);
}

}  // namespace

TEST_CASE("A job that a live runner can claim is left alone") {
  QueueFacts one = facts({live_runner(1, 1)});
  CHECK(steps_for(one).empty());
  one.waiting[0].affinity = RunnerId{1};
  CHECK(steps_for(one).empty());
  one.waiting[0].unclaimable_since = some_time - 48h;
  CHECK(only_step<NoteClaimable>(one));
}

TEST_CASE("A job of any variant, or of one that a live runner's label names, is left alone") {
  QueueFacts one = facts({of_variant("cu126,cu130", live_runner(1, 1))});
  one.waiting[0].variant = "cu130";
  CHECK(steps_for(one).empty());
  one.waiting[0].variant.reset();
  CHECK(steps_for(one).empty());
}

TEST_CASE("Two runners of one class measure each its own variant, nights and searches alike") {
  NightWorld world;
  world.config.more_sources.emplace_back().variant = "cu126";
  Runner twin = of_variant("cu126", world.runner);
  twin.id = {};
  twin.name = "twin";
  world.others = {storage::register_runner(storage::Autocommit(world.db), twin)};
  world.level = [](int position, const std::string& workload, const std::string& metric) {
    if (metric != "latency") return 3e8;
    return workload == alpha_eval && position >= 9 ? .013 : .010;
  };
  std::set<std::tuple<JobKind, std::string, std::string>> claimed;
  world.on_claim = [&](const Job& job) {
    const auto build = storage::find_build(world.db, job.spec.environments.back().build);
    claimed.emplace(job.spec.kind, build->variant,
                    storage::find_runner(world.db, *job.runner)->name);
    return true;
  };
  for (const char* date : {"2026-08-19", "2026-08-20"}) {
    Build build = world.nightly(date);
    build.variant = "cu126";
    build.version.replace(build.version.find("+cpu"), 4, "+cu126");
    build.url.clear();
    storage::add_build(storage::Autocommit(world.db), build);
    world.settle();
    world.grow(24);
  }
  for (const auto& [kind, variant, runner] : claimed) {
    INFO(name_of(kind) << " of " << variant << " by " << runner);
    CHECK(runner == (variant == "cpu" ? "lab" : "twin"));
  }
  for (const JobKind kind : {JobKind::screen, JobKind::confirm})
    for (const char* runner : {"lab", "twin"})
      CHECK(claimed.contains({kind, runner == std::string("lab") ? "cpu" : "cu126", runner}));
  CHECK(claimed.contains({JobKind::bisect, "cpu", "lab"}));
}

TEST_CASE("A job that no live runner can claim is given up after a time, with the reason") {
  const std::string nobody = "no runner of machine class 1 was live for 1440 minutes";
  struct Case {
    std::vector<Runner> live;
    std::string reason;
  };
  const std::vector<Case> cases{
      {{live_runner(1, 2)}, nobody},
      {{live_runner(1, 1, {"a@1"})}, "no live runner of machine class 1 had b@1 for 1440 minutes"},
      {{live_runner(1, 1, {"a@1"}), live_runner(2, 1, {"b@1"})},
       "no live runner of machine class 1 had all its workloads for 1440 minutes"},
      {{of_variant("cu130", live_runner(1, 1))},
       "no live runner of machine class 1 measured variant cpu for 1440 minutes"},
      {{of_variant("cu130", live_runner(1, 1)), live_runner(2, 1, {"a@1"})},
       "no live runner of machine class 1 had b@1 for 1440 minutes"}};
  for (const Case& c : cases) {
    QueueFacts one = facts(c.live);
    CHECK(only_step<NoteUnclaimable>(one));
    one.waiting[0].unclaimable_since = some_time - 24h + 1s;
    CHECK(steps_for(one).empty());
    one.waiting[0].unclaimable_since = some_time - 24h;
    const auto step = only_step<GiveUpJob>(one);
    REQUIRE(step);
    CHECK(step->reason == c.reason);
  }
}

TEST_CASE("A job of a runner that stays away is free for the others after an hour") {
  QueueFacts one = facts({live_runner(2, 1)});
  one.waiting[0].affinity = RunnerId{1};
  CHECK(only_step<NoteUnclaimable>(one));
  one.waiting[0].unclaimable_since = some_time - 59min;
  CHECK(steps_for(one).empty());
  one.waiting[0].unclaimable_since = some_time - 60min;
  CHECK(only_step<FreeJob>(one));
  one.live = {};  // then no time counts against it
  CHECK(only_step<NoteClaimable>(one));
}

TEST_CASE("A night ends though its only machine became another class after planning") {
  NightWorld world;
  const Build build = world.nightly("2026-08-20");
  world.tick_once();
  REQUIRE(storage::count_jobs(world.db).at(JobState::queued) > 0);
  world.runner.machine = storage::intern_machine(storage::Autocommit(world.db),
                                                 {{}, web::sha256("x"), {{"cpu_model", "another"}}})
                             .id;
  world.runner = storage::register_runner(storage::Autocommit(world.db), world.runner);
  world.settle();
  const auto night = storage::find_night_of_build(world.db, build.id);
  REQUIRE(night);
  CHECK(night->state == NightState::measuring);
  world.clock.advance(25h);
  storage::touch_runner(storage::Autocommit(world.db), world.runner.id, world.clock.now());
  world.settle();
  const Night after = *storage::find_night(world.db, night->id);
  CHECK(after.state == NightState::done);
  CHECK(after.reason.find("no runner of machine class 1 was live") != std::string::npos);
  CHECK(storage::count_jobs(world.db).count(JobState::queued) == 0);
}

TEST_CASE("While no runner at all is live no time counts against a job") {
  QueueFacts one = facts({});
  CHECK(steps_for(one).empty());
  one.waiting[0].unclaimable_since = some_time - 48h;
  CHECK(only_step<NoteClaimable>(one));
}

TEST_CASE("The time that the service itself was away is no reason to give a job up") {
  NightWorld world;
  const Runner other = world.enrol("of another class");
  world.nightly("2026-08-20");
  world.tick_once();
  const auto failed_after = [&](std::chrono::hours passed) {
    world.clock.advance(passed);
    storage::touch_runner(storage::Autocommit(world.db), other.id, world.clock.now());
    world.tick_once();
    return storage::count_jobs(world.db)[JobState::failed];
  };
  CHECK(failed_after(1h) == 0);                           // the first runner is silent
  storage::write(world.db, storage::forget_unclaimable);  // the service starts again
  CHECK(failed_after(30h) == 0);
  CHECK(failed_after(25h) == 1);
}
