#include "service/engine/jobs/claimable.hpp"

#include <catch2/catch.hpp>

#include "tests/service/engine/night_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using namespace nightjar::service::test;
using namespace std::chrono_literals;

namespace {

const Time kNow = *parse_rfc3339("2026-08-20T08:00:00Z");

Runner live_runner(int id, int machine, std::vector<std::string> workloads = {"a@1", "b@1"}) {
  Runner runner;
  runner.id = RunnerId{id};
  runner.machine = MachineId{machine};
  runner.workloads = std::move(workloads);
  return runner;
}

QueueFacts facts(std::vector<Runner> live) {
  return {kNow, {{JobId{1}, MachineId{1}, {}, {"a@1", "b@1"}, {}}}, std::move(live), 24h};
}

// The one step that is decided on, if it is of this kind.
template <class Step>
std::optional<Step> only_step(const QueueFacts& facts) {
  const auto steps = decide(facts);
  if (steps.size() != 1 || !std::holds_alternative<Step>(steps[0])) return std::nullopt;
  return std::get<Step>(steps[0]);
}

}  // namespace

TEST_CASE("A job that a live runner can claim is left alone") {
  QueueFacts one = facts({live_runner(1, 1)});
  CHECK(decide(one).empty());
  one.waiting[0].affinity = RunnerId{1};
  CHECK(decide(one).empty());
  one.waiting[0].unclaimable_since = kNow - 48h;
  CHECK(only_step<NoteClaimable>(one));
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
       "no live runner of machine class 1 had all its workloads for 1440 minutes"}};
  for (const Case& c : cases) {
    QueueFacts one = facts(c.live);
    CHECK(only_step<NoteUnclaimable>(one));
    one.waiting[0].unclaimable_since = kNow - 24h + 1s;
    CHECK(decide(one).empty());
    one.waiting[0].unclaimable_since = kNow - 24h;
    const auto step = only_step<GiveUpJob>(one);
    REQUIRE(step);
    CHECK(step->reason == c.reason);
  }
}

TEST_CASE("A job of a runner that stays away is free for the others after an hour") {
  QueueFacts one = facts({live_runner(2, 1)});
  one.waiting[0].affinity = RunnerId{1};
  CHECK(only_step<NoteUnclaimable>(one));
  one.waiting[0].unclaimable_since = kNow - 59min;
  CHECK(decide(one).empty());
  one.waiting[0].unclaimable_since = kNow - 60min;
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
  CHECK(decide(one).empty());
  one.waiting[0].unclaimable_since = kNow - 48h;
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
