// What becomes of a suspicion whose confirmation is cut short: it is taken up again, and never a
// level.
#include "service/engine/verdict/confirmations.hpp"

#include <catch2/catch.hpp>

#include "storage/marks.hpp"
#include "tests/service/engine/night_world.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::alpha_eval;
using service::test::NightWorld;

namespace {

enum class Trouble { none, lost_jobs, void_sessions, busy_machine };

// Nights of eight commits, one a day, on a runner whose confirmations go wrong as long as there is
// `trouble`.
struct Nights : NightWorld {
  Trouble trouble = Trouble::none;
  double step = 1.15;
  int step_at = 5;
  int day = 0;

  Nights() {
    noise = .01;
    lease = std::chrono::seconds(3);
    level = [this](int position, const std::string& workload, const std::string& metric) {
      if (metric != "latency") return 3e8;
      return .010 * (workload == alpha_eval && position >= step_at ? step : 1);
    };
    on_claim = [this](const Job& job) { return trouble != Trouble::lost_jobs || !confirms(job); };
    steal = [this](const Job& job) {
      return trouble == Trouble::void_sessions && confirms(job) ? .5 : 0.;
    };
    disturbed = [this](const Job& job) {
      return trouble == Trouble::busy_machine && confirms(job);
    };
    night();
  }

  static bool confirms(const Job& job) { return job.spec.kind == JobKind::confirm; }

  void night() {
    if (day > 0) grow(8);
    char date[32];
    std::snprintf(date, sizeof date, "2026-08-%02d", ++day);
    nightly(date);
    settle();
    clock.advance(std::chrono::hours(20));
    storage::touch_runner(storage::Autocommit(db), runner.id, clock.now());
  }

  std::vector<Regression> in_state(RegressionState state) {
    return storage::regressions_in_state(db, state);
  }
  std::size_t regressions() { return storage::list_regressions(db, {}, {100, {}}).items.size(); }
  std::size_t messages() { return storage::list_messages(db, {100, {}}).items.size(); }
  // That a night writes where it takes the machine for the cause.
  std::size_t marks() { return storage::list_marks(db, {100, {}}).items.size(); }
  Night last_night() { return storage::list_nights(db, {1, {}}).items.front(); }
  std::string last_evidence(RegressionId id) {
    return storage::changes_of(db, id).back().evidence.text;
  }
  // Returns the levels of alpha's latency, newest first.
  std::vector<Level> levels() {
    storage::SeriesFilter filter;
    filter.metric = "latency";
    filter.workload.glob = alpha_eval;
    const auto series = storage::list_series(db, filter, {10, {}}).items;
    REQUIRE(series.size() == 1);
    return storage::levels_before(db, series[0].id, NightId{1'000}, 100);
  }
};

}  // namespace

TEST_CASE(
    "a true regression whose confirmation breaks off is confirmed and searched the next night, "
    "once") {
  for (const Trouble trouble :
       {Trouble::lost_jobs, Trouble::void_sessions, Trouble::busy_machine}) {
    INFO("trouble " << static_cast<int>(trouble));
    Nights world;
    world.trouble = trouble;
    world.night();
    REQUIRE(world.in_state(RegressionState::unconfirmed).size() == 1);
    const Regression open = world.in_state(RegressionState::unconfirmed)[0];
    CHECK(open.unfinished == 1);
    CHECK(world.last_evidence(open.id).find("the next night takes it up again") !=
          std::string::npos);
    CHECK(world.regressions() == 1);
    CHECK(world.levels().size() == 1);
    CHECK(world.last_night().state == NightState::done);
    CHECK(world.last_night().reason.find("1 suspicion could not be confirmed") !=
          std::string::npos);

    world.trouble = Trouble::none;
    world.restart();
    world.night();
    const auto reported = world.in_state(RegressionState::reported);
    REQUIRE(reported.size() == 1);
    CHECK(reported[0].id == open.id);
    CHECK(reported[0].culprit->commits == std::vector{world.commits[5]});
    CHECK(reported[0].series[0].ratio == Approx(1.15).epsilon(.03));
    CHECK(world.messages() == 1);
    for (int night = 0; night < 2; ++night) world.night();
    CHECK(world.regressions() == 1);
    CHECK(world.messages() == 1);
    CHECK(world.levels().front().value == Approx(.0115).epsilon(.03));
    CHECK(world.levels().front().night == world.last_night().id);
  }
}

TEST_CASE("a suspicion that is not real is dismissed the next night, and levels go on") {
  Nights world;
  world.step = 1;
  world.trouble = Trouble::lost_jobs;
  world.level = [&](int, const std::string& workload, const std::string& metric) {
    const bool unlucky =
        world.day == 2 && world.measuring->spec.kind == JobKind::screen && workload == alpha_eval;
    return metric == "latency" ? .010 * (unlucky ? 1.15 : 1) : 3e8;
  };
  world.night();
  REQUIRE(world.in_state(RegressionState::unconfirmed).size() == 1);
  world.trouble = Trouble::none;
  world.night();
  CHECK(world.in_state(RegressionState::dismissed).size() == 1);
  CHECK(world.in_state(RegressionState::unconfirmed).empty());
  world.night();
  CHECK(world.messages() == 0);
  REQUIRE(world.levels().size() >= 2);
  CHECK(world.levels().front().night == world.last_night().id);
  for (const Level& level : world.levels()) CHECK(level.value == Approx(.010).epsilon(.05));
}

TEST_CASE("a suspicion of another night that this one decides makes no machine guilty") {
  Nights world;
  world.trouble = Trouble::lost_jobs;
  world.night();
  REQUIRE(world.in_state(RegressionState::unconfirmed).size() == 1);
  world.trouble = Trouble::none;
  world.level = [&](int position, const std::string& workload, const std::string& metric) {
    if (metric != "latency") return 3e8;
    if (workload == alpha_eval) return .010 * (position >= world.step_at ? world.step : 1);
    const bool unlucky = world.day == 3 && world.measuring->spec.kind == JobKind::screen;
    return .010 * (unlucky ? 1.15 : 1);
  };
  world.night();
  CHECK(world.in_state(RegressionState::dismissed).size() == 1);
  CHECK(world.in_state(RegressionState::reported).size() == 1);
  CHECK(world.marks() == 0);
}

TEST_CASE(
    "a confirmation that breaks off three times is left to a person, and the regression is still "
    "found") {
  Nights world;
  world.trouble = Trouble::lost_jobs;
  for (int night = 0; night < 3; ++night) world.night();
  REQUIRE(world.in_state(RegressionState::unconfirmed).size() == 1);
  const Regression left = world.in_state(RegressionState::unconfirmed)[0];
  CHECK(left.unfinished == 3);
  CHECK_FALSE(awaits_confirmation(left));
  CHECK(world.last_evidence(left.id).find("compare the two builds by hand") != std::string::npos);
  CHECK(world.levels().size() == 1);
  CHECK(world.in_state(RegressionState::dismissed).empty());
  world.trouble = Trouble::none;
  world.night();
  const auto reported = world.in_state(RegressionState::reported);
  REQUIRE(reported.size() == 1);
  CHECK(reported[0].culprit->commits == std::vector{world.commits[5]});
  CHECK(world.in_state(RegressionState::unconfirmed).size() == 1);
  CHECK(world.messages() == 1);
}

TEST_CASE("a build that only crashes side by side is dismissed, and is no level") {
  Nights world;
  world.crashes = [&](int position, const std::string& workload) {
    return workload == alpha_eval && position >= 5 &&
           world.measuring->spec.kind == JobKind::confirm;
  };
  world.night();
  const auto all = storage::list_regressions(world.db, {}, {100, {}}).items;
  REQUIRE_FALSE(all.empty());
  CHECK(world.in_state(RegressionState::unconfirmed).empty());
  CHECK(world.in_state(RegressionState::dismissed).size() == 1);
  CHECK(world.levels().size() == 1);
}
