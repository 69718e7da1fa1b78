// When nights begin.
#include "service/engine/night/nights.hpp"

#include <catch2/catch.hpp>

#include "storage/pools.hpp"
#include "tests/service/engine/night_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::NightWorld;

TEST_CASE(
    "nights do not pile up while no runner is alive, and the newest build is measured afterwards") {
  NightWorld world;
  world.config.night.at = "06:00";
  Build newest = world.nightly("2026-08-19");
  world.tick_once();  // planned; then the runner is gone
  world.away = true;
  for (int day = 20; day < 26; ++day) {
    world.clock.advance(std::chrono::hours(24));
    world.grow(2);
    newest = world.nightly("2026-08-" + std::to_string(day));
    world.settle();
    CHECK(storage::open_nights(world.db).size() == 1);
  }
  world.away = false;
  world.settle();
  CHECK(storage::open_nights(world.db).empty());
  CHECK(storage::find_night_of_build(world.db, newest.id)->state == NightState::done);
  const auto nights = storage::list_nights(world.db, {}).items;
  CHECK(nights.size() == 2);
  for (const Night& night : nights) CHECK((night.state == NightState::done && night.finished_at));
}

TEST_CASE("a night gives no work to a runner that has said that it ends, until it is back") {
  NightWorld world;
  Runner other = world.enrol("other");
  world.others = {other};
  const auto classes = [&](const Build& build) {
    const auto night = storage::find_night_of_build(world.db, build.id);
    REQUIRE(night);
    return storage::planned_classes(world.db, night->id);
  };
  const Build first = world.nightly("2026-08-19");
  world.settle();
  CHECK(classes(first).size() == 2);

  storage::dismiss_runner(storage::Autocommit(world.db), other.id);  // it was seen just now
  world.others.clear();
  world.grow(2);
  const Build second = world.nightly("2026-08-20");
  world.settle();
  CHECK(classes(second) == std::vector{world.runner.machine});
  CHECK(storage::open_nights(world.db).empty());

  other.seen_at = world.clock.now();
  storage::register_runner(storage::Autocommit(world.db), other);
  world.others = {other};
  world.grow(2);
  const Build third = world.nightly("2026-08-21");
  world.settle();
  CHECK(classes(third).size() == 2);
}

TEST_CASE("a night keeps the reason that a person gave beside what came of it") {
  MeasuringFacts facts;
  facts.planned = true;
  facts.night.build = BuildId{1};
  facts.night.reason = "after the patch";
  CHECK(std::get<JudgeNight>(decide(facts, {})).reason.empty());
  facts.failure = "the session failed";
  CHECK(std::get<JudgeNight>(decide(facts, {})).reason == "after the patch; the session failed");
}
