#include "service/clock_steps.hpp"

#include <catch2/catch.hpp>

#include "storage/base/machine_class.hpp"
#include "storage/connection.hpp"
#include "storage/runners.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::service;
using namespace std::chrono_literals;

namespace {

// A database with a runner that was seen at `time`.
storage::Database seen_at(Time time) {
  auto db = storage::Database::open_writer(":memory:");
  Runner runner;
  runner.name = "bench";
  runner.machine =
      storage::intern_machine(storage::Autocommit(db), machine_class({{"cpu", "x"}})).id;
  runner.seen_at = time;
  storage::register_runner(storage::Autocommit(db), runner);
  return db;
}

Time last_seen(const storage::Database& db) {
  return storage::all_runners(db).front().seen_at;
}

// A service whose clock is followed every five seconds.
struct Followed {
  Time wall = *parse_rfc3339("2026-08-20T08:00:00Z");
  std::chrono::steady_clock::time_point steady{1000h};
  storage::Database db = seen_at(wall);
  ClockFollower follower{60s};

  // Its clock was set by `set` meanwhile.
  std::optional<std::chrono::microseconds> follow(std::chrono::seconds set) {
    wall += 5s + set;
    steady += 5s;
    return follower.follow(db, wall, steady);
  }
  // Nothing can be stored then.
  void fail_to_follow(std::chrono::seconds set) {
    db.impl().execute("PRAGMA query_only = ON");
    CHECK_THROWS_AS(follow(set), storage::Error);
    db.impl().execute("PRAGMA query_only = OFF");
  }
};

}  // namespace

TEST_CASE("A clock that was set is seen, one that is corrected is not") {
  const Time wall = *parse_rfc3339("2026-08-20T08:00:00Z");
  const std::chrono::steady_clock::time_point steady{1000h};
  ClockSteps steps;
  CHECK_FALSE(steps.observe(wall, steady));
  CHECK_FALSE(steps.observe(wall + 5s, steady + 5s));
  CHECK_FALSE(steps.observe(wall + 20s, steady + 10s));  // ten seconds fast
  CHECK(steps.observe(wall + 25s + 24h, steady + 15s) == 24h);
  CHECK_FALSE(steps.observe(wall + 30s + 24h, steady + 20s));
  CHECK(steps.observe(wall + 35s, steady + 25s) == -24h);
}

TEST_CASE("A clock that was set while nothing could be stored is followed when something can be") {
  Followed world;
  CHECK_FALSE(world.follow(0s));
  CHECK_FALSE(world.follow(0s));
  world.fail_to_follow(-24h);
  CHECK(world.follow(0s) == -24h);
  CHECK(last_seen(world.db) == world.wall - 20s);
  CHECK_FALSE(world.follow(0s));
}

TEST_CASE("What is stored between two steps of the clock that are pending gets the second alone") {
  Followed world;
  CHECK_FALSE(world.follow(0s));
  world.fail_to_follow(-5h);
  const RunnerId runner = storage::all_runners(world.db).front().id;
  storage::touch_runner(storage::Autocommit(world.db), runner, world.wall);
  world.fail_to_follow(1h);
  CHECK(world.follow(0s) == -4h);
  CHECK(last_seen(world.db) == world.wall - 10s);
}

TEST_CASE("A clock that was set back while the service was away is seen when it comes back") {
  const Time wall = *parse_rfc3339("2026-08-20T08:00:00Z");
  auto db = seen_at(wall + 3h);
  ClockFollower follower(60s);
  const std::chrono::steady_clock::time_point steady{1000h};
  CHECK(follower.follow(db, wall, steady) == -3h);
  CHECK(last_seen(db) == wall);
  CHECK_FALSE(follower.follow(db, wall + 5s, steady + 5s));
}
