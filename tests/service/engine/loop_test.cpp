#include <set>

#include <catch2/catch.hpp>

#include "service/engine/engine.hpp"
#include "storage/pools.hpp"
#include "tests/service/engine/night_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::alpha_eval;
using service::test::beta_train;
using service::test::NightWorld;
using service::test::two_nights;

namespace {

// Two nights with 24 commits between; steps are (workload, metric, first commit, factor).
struct Step {
  std::string workload, metric;
  int commit;
  double factor;
};

void plant(NightWorld& world, std::vector<Step> steps) {
  world.level = [steps](int position, const std::string& workload, const std::string& metric) {
    double value = metric == "latency" ? .010 : 3e8;
    for (const Step& step : steps)
      if (workload == step.workload && metric == step.metric && position >= step.commit)
        value *= step.factor;
    return value;
  };
}

std::vector<Regression> in_state(NightWorld& world, RegressionState state) {
  return storage::regressions_in_state(world.db, state);
}

std::vector<OutboxMessage> messages(NightWorld& world) {
  return storage::list_messages(world.db, {100, {}}).items;
}

}  // namespace

TEST_CASE("a quiet day accepts levels and reports nothing") {
  NightWorld world;
  two_nights(world);
  CHECK(storage::open_nights(world.db).empty());
  CHECK(storage::list_nights(world.db, {}).items.size() == 2);
  CHECK(in_state(world, RegressionState::reported).empty());
  CHECK(messages(world).empty());
}

TEST_CASE("a step in latency is blamed on its commit and reported once") {
  NightWorld world;
  plant(world, {{alpha_eval, "latency", 9, 1.2}});
  two_nights(world);
  const auto reported = in_state(world, RegressionState::reported);
  REQUIRE(reported.size() == 1);
  REQUIRE(reported[0].culprit);
  CHECK(reported[0].culprit->commits == std::vector{world.commits[9]});
  CHECK(reported[0].culprit->probability >= .99);
  CHECK(reported[0].series[0].ratio == Approx(1.2).epsilon(.04));
  REQUIRE(messages(world).size() == 1);
  CHECK(messages(world)[0].body.find(world.commits[9].str()) != std::string::npos);
  world.settle();
  CHECK(messages(world).size() == 1);
}

TEST_CASE("two culprits of one night, in time and in memory, are two issues") {
  NightWorld world;
  plant(world, {{alpha_eval, "latency", 9, 1.3}, {beta_train, "peak_cpu_memory", 17, 1.4}});
  two_nights(world);
  const auto reported = in_state(world, RegressionState::reported);
  REQUIRE(reported.size() == 2);
  for (const Regression& regression : reported) {
    const auto series = storage::find_series(world.db, regression.series[0].series);
    const int expected = series->metric == "latency" ? 9 : 17;
    CHECK(regression.culprit->commits == std::vector{world.commits[std::size_t(expected)]});
  }
  CHECK(messages(world).size() == 2);
}

TEST_CASE("one commit that shows in several series is one issue") {
  NightWorld world;
  plant(world, {{alpha_eval, "latency", 12, 1.25}, {beta_train, "latency", 12, 1.2}});
  two_nights(world);
  const auto reported = in_state(world, RegressionState::reported);
  REQUIRE(reported.size() == 1);
  CHECK(reported[0].series.size() == 2);
  CHECK(in_state(world, RegressionState::merged).size() == 1);
  REQUIRE(messages(world).size() == 1);
  CHECK(messages(world)[0].body.find(beta_train) != std::string::npos);
}

TEST_CASE("commits that do not import are blamed together with their neighbour") {
  NightWorld world;
  plant(world, {{alpha_eval, "latency", 10, 1.3}});
  world.imports = [](int position) { return position != 9 && position != 10; };
  two_nights(world);
  const auto reported = in_state(world, RegressionState::reported);
  REQUIRE(reported.size() == 1);
  CHECK(reported[0].culprit->commits ==
        std::vector{world.commits[9], world.commits[10], world.commits[11]});
}

TEST_CASE("a runner that dies with every first claim changes nothing but time") {
  NightWorld world;
  plant(world, {{alpha_eval, "latency", 5, 1.25}});
  std::map<JobId, int> claims;
  world.lease = std::chrono::seconds(3);
  world.on_claim = [&](const Job& job) { return ++claims[job.id] > 1; };
  two_nights(world);
  const auto reported = in_state(world, RegressionState::reported);
  REQUIRE(reported.size() == 1);
  CHECK(reported[0].culprit->commits == std::vector{world.commits[5]});
}

TEST_CASE("an improvement is accepted as the new level and not filed") {
  NightWorld world;
  plant(world, {{alpha_eval, "latency", 5, .7}});
  two_nights(world);
  CHECK(storage::list_regressions(world.db, {}, {100, {}}).items.empty());
}

TEST_CASE("an issue is closed after three good nights, not before") {
  NightWorld world;
  plant(world, {{alpha_eval, "latency", 9, 1.3}, {alpha_eval, "latency", 30, 1 / 1.3}});
  two_nights(world);
  REQUIRE(in_state(world, RegressionState::reported).size() == 1);
  for (int day = 21; day <= 23; ++day) {
    world.grow(8);
    world.clock.advance(std::chrono::hours(24));
    world.nightly("2026-08-" + std::to_string(day));
    world.settle();
    CHECK(in_state(world, RegressionState::recovered).size() == (day == 23 ? 1u : 0u));
  }
  const auto all = messages(world);
  REQUIRE(all.size() == 3);
  CHECK(all[0].kind == OutboxKind::close_issue);
  CHECK(all[1].kind == OutboxKind::comment);  // the first good night
}

TEST_CASE("what may have repaired it came after the last bad night") {
  NightWorld world;
  plant(world, {{alpha_eval, "latency", 9, 1.3}, {alpha_eval, "latency", 38, 1 / 1.3}});
  two_nights(world);
  for (int day = 21; day <= 24; ++day) {
    world.grow(8);
    world.clock.advance(std::chrono::hours(24));
    world.nightly("2026-08-" + std::to_string(day));
    world.settle();
  }
  const auto all = messages(world);
  REQUIRE(all.front().kind == OutboxKind::close_issue);
  CHECK(all.front().body.find("Repaired by one of these 8 commits") != std::string::npos);
}

TEST_CASE(
    "a confirmation beside a busy neighbour waits until it has seen the machine undisturbed") {
  for (const std::size_t busy : {5, 1000}) {
    NightWorld world;
    plant(world, {{alpha_eval, "latency", 9, 1.3}});
    std::set<JobId> confirmations;
    world.disturbed = [&](const Job& job) {
      if (job.spec.kind != JobKind::confirm) return false;
      confirmations.insert(job.id);
      return confirmations.size() <= busy;
    };
    two_nights(world);
    CHECK(in_state(world, RegressionState::reported).size() == (busy == 5 ? 1 : 0));
    CHECK(in_state(world, RegressionState::dismissed).empty());
    CHECK(in_state(world, RegressionState::unconfirmed).size() == (busy == 5 ? 0 : 1));
    CHECK(messages(world).size() == (busy == 5 ? 1 : 0));
  }
}

TEST_CASE("a session on a disturbed machine is measured again and not believed") {
  NightWorld world;
  for (int day = 10; day < 20; ++day) {
    world.nightly("2026-08-" + std::to_string(day));
    world.settle();
    world.grow(1);
  }
  int disturbed = 0;
  world.on_claim = [&](const Job&) {
    world.control_level = disturbed++ == 0 ? .5 : .25;
    return true;
  };
  world.nightly("2026-08-20");
  world.settle();
  const auto jobs = storage::list_jobs(world.db, {}, {100, {}}).items;
  REQUIRE(jobs.front().key.find("/again:1") != std::string::npos);
  CHECK(storage::open_nights(world.db).empty());
}

TEST_CASE("a tick whose time is over says so, and the next one goes on with another class") {
  NightWorld world;
  for (const char* name : {"second", "third"}) world.enrol(name);
  const Build build = world.nightly("2026-08-20");
  EngineContext context = world.context();
  const auto planned = [&] {
    const auto night = storage::find_night_of_build(world.db, build.id);
    return night ? storage::planned_classes(world.db, night->id).size() : 0;
  };
  std::set<std::size_t> seen;
  bool is_part = true;
  for (int ticks = 0; is_part && ticks < 50; ++ticks) {
    is_part = tick(context, true, std::chrono::milliseconds(0)).is_part;
    seen.insert(planned());
  }
  CHECK_FALSE(is_part);
  CHECK(planned() == 3);
  CHECK(seen.contains(1));
  CHECK(seen.contains(2));
}
