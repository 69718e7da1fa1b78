// Which build a waiting night gets, and what it says while there is none.
#include "service/engine/night/starting.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::service;
using namespace std::chrono_literals;

namespace {

Build nightly(const char* date, BuildState state) {
  Build build;
  build.id = {1};
  build.version = "2.15.0.dev" + std::string(date) + "+cpu";
  build.date = date;
  build.state = state;
  return build;
}

// A night that waits, behind a newest wheel that is broken as a package.
struct Waiting {
  AssignmentFacts facts;
  Config config;

  Waiting() {
    facts.now = Time{} + 1000h;
    facts.newest = nightly("2026-08-19", BuildState::proved);
    facts.unusable = nightly("2026-08-20", BuildState::unusable);
    facts.unusable->reason = "it has no RECORD";
    Night night;
    night.trigger = NightTrigger::schedule;
    night.started_at = facts.now - 1h;
    facts.waiting = {night};
  }
};

const std::string said_before =
    "the newest wheel, 2.15.0.dev2026-08-20+cpu, is unusable: it has no RECORD";

}  // namespace

TEST_CASE("a night that waits behind a broken wheel says so, once") {
  Waiting world;
  Assignment assignment = decide(world.facts, world.config);
  CHECK(assignment.given.empty());
  CHECK(assignment.ended.empty());
  REQUIRE(assignment.told.size() == 1);
  CHECK(assignment.told[0].reason == said_before);
  CHECK(assignment.told[0].state == NightState::waiting);
  world.facts.waiting = assignment.told;
  CHECK(decide(world.facts, world.config).told.empty());
}

TEST_CASE("what a person said of a night stays") {
  Waiting world;
  world.facts.waiting[0].reason = "a rehearsal";
  CHECK(decide(world.facts, world.config).told.empty());
}

TEST_CASE("the next whole wheel is measured, and the night has no complaint any more") {
  Waiting world;
  world.facts.waiting[0].reason = said_before;
  world.facts.newest = nightly("2026-08-21", BuildState::proved);
  world.facts.is_new = true;
  world.facts.unusable.reset();
  const Assignment assignment = decide(world.facts, world.config);
  REQUIRE(assignment.given.size() == 1);
  CHECK(assignment.given[0].reason.empty());
  CHECK(assignment.given[0].state == NightState::measuring);
}

TEST_CASE("a night that got no build in time names the broken wheel") {
  Waiting world;
  world.facts.waiting[0].started_at = world.facts.now - 13h;
  const Assignment assignment = decide(world.facts, world.config);
  REQUIRE(assignment.ended.size() == 1);
  CHECK(assignment.ended[0].reason == "no new build appeared within 12 hours; " + said_before);
}
