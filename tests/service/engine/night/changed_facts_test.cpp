// A kernel update: what it costs, and what it must not be taken for.
#include "service/engine/night/changed_facts.hpp"

#include <catch2/catch.hpp>

#include "service/engine/verdict/series_histories.hpp"
#include "storage/marks.hpp"
#include "tests/service/engine/verdict/wide_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using service::test::WideWorld;

namespace {

std::vector<Job> screened(const WideWorld& world) {
  const Night newest = storage::list_nights(world.db, {}).items.front();
  return storage::jobs_of_night(world.db, newest.id, JobKind::screen);
}

// Counts the runs of the first or the second build of the sessions.
std::size_t runs_of(const std::vector<Job>& jobs, int environment) {
  std::size_t runs = 0;
  for (const Job& job : jobs)
    for (const PlannedRun& planned : job.spec.order) runs += planned.environment == environment;
  return runs;
}

std::vector<Series> all_series(const WideWorld& world) {
  return storage::list_series(world.db, {}, {1000, {}}).items;
}

std::size_t findings(const WideWorld& world) {
  return storage::list_regressions(world.db, {}, {100, {}}).items.size();
}

// Adds a night for a new build, after the last one.
Night next_night(WideWorld& world) {
  Night next;
  next.build = world.nightly("2026-12-31").id;
  next.state = NightState::measuring;
  next.started_at = world.clock.now();
  return storage::add_night(storage::Autocommit(world.db), next);
}

// The same as another variant's, and its night.
Night night_of_variant(WideWorld& world, const std::string& variant) {
  Night night = next_night(world);
  Build build = *storage::find_build(world.db, *night.build);
  build.variant = variant;
  build.version.replace(build.version.find("+cpu"), 4, "+" + variant);
  build.url.clear();
  night.build = storage::add_build(storage::Autocommit(world.db), build).id;
  return storage::add_night(storage::Autocommit(world.db), night);
}

}  // namespace

TEST_CASE("a kernel update that changes nothing costs one measurement and keeps every level") {
  WideWorld world;
  for (int night = 0; night < 4; ++night) world.night(2);
  CHECK(runs_of(screened(world), 1) == 0);
  world.update_kernel("6.8");
  world.night(2);
  CHECK(runs_of(screened(world), 0) >= 30);
  CHECK(runs_of(screened(world), 1) == runs_of(screened(world), 0));
  world.night(2);
  CHECK(runs_of(screened(world), 1) == 0);
  CHECK(findings(world) == 0);
  CHECK(world.marks().empty());
  CHECK(storage::facts_of_machine(world.db, world.runner.machine).size() == 2);
  EngineContext context = world.context();
  for (const Series& series : all_series(world))
    if (series.metric == "latency")
      CHECK(load_histories(context, {series}, NightId{100}, 40).at(series.id).levels.size() == 6);
  // The build that was measured again has no further point: its runs belong to another machine.
  for (const Series& series : all_series(world))
    for (const auto& point : storage::points_of_series(world.db, series.id, 100))
      CHECK(point.values.size() <= 5);
}

TEST_CASE("a kernel update soon after a repair is not taken for a move of the machine") {
  WideWorld world;
  world.level = [](int position, const std::string& workload, const std::string& metric) {
    if (metric != "latency") return 3e8;
    const bool bert = workload.find("/bert/eval/") != std::string::npos;
    return .010 * (bert && position > 12 && position <= 36 ? 1.3 : 1);
  };
  for (int night = 0; night < 7; ++night) world.night();
  REQUIRE(findings(world) == 1);
  world.update_kernel("6.8");
  world.night();
  CHECK(world.marks().empty());
}

TEST_CASE("a kernel update that makes everything slower is the machine's, and blames nobody") {
  WideWorld world;
  for (int night = 0; night < 4; ++night) world.night(2);
  world.update_kernel("6.8");
  world.machine = 1.2;
  world.control_level *= 1.2;
  world.night(2);
  CHECK(findings(world) == 0);
  const auto marks = world.marks();
  REQUIRE(marks.size() == 10);
  CHECK_THAT(marks.front().reason, Contains("the machine moved it by +") &&
                                       Contains("kernel 6.1 → 6.8") && Contains("measured again"));
  for (int night = 0; night < 3; ++night) world.night(2);
  CHECK(findings(world) == 0);
  CHECK(world.marks().size() == 10);
}

TEST_CASE("a build that is off by chance when it is measured again is no move of the machine") {
  const double chance = GENERATE(.93, 1.07);
  WideWorld world;
  for (int night = 0; night < 4; ++night) world.night(2);
  const int measured = static_cast<int>(world.commits.size()) - 1;
  world.update_kernel("6.8");
  world.level = [&](int position, const std::string& workload, const std::string& metric) {
    if (metric != "latency") return 3e8;
    const bool off = position <= measured && workload.find("/bert/train/") != std::string::npos;
    return .010 * (off ? chance : 1);
  };
  world.night(2);
  CHECK(world.marks().empty());
  CHECK(storage::list_improvements(world.db, {}).items.empty());
  CHECK(world.levels("bert/train", "latency").front().value == Approx(.010).epsilon(.02));
}

TEST_CASE("a regression in the night of a kernel update is found beneath what the kernel did") {
  const double machine = GENERATE(.75, 1.25);
  WideWorld world;
  for (int night = 0; night < 4; ++night) world.night(6);
  world.update_kernel("6.8");
  world.machine = machine;
  world.control_level *= machine;
  world.level = [&](int position, const std::string& workload, const std::string& metric) {
    if (metric != "latency") return 3e8;
    const bool slower = position >= 27 && workload.find("/bert/train/") != std::string::npos;
    return .010 * world.machine * (slower ? 1.25 : 1);
  };
  world.night(6);
  const auto reported = storage::regressions_in_state(world.db, RegressionState::reported);
  REQUIRE(reported.size() == 1);
  CHECK(reported[0].culprit->commits == std::vector{world.commits[27]});
  CHECK(reported[0].series.size() == 1);
  CHECK(findings(world) == 1);
}

TEST_CASE("builds that are measured side by side need no control") {
  WideWorld world;
  world.noise = .005;
  for (int night = 0; night < 6; ++night) world.night(1);
  world.update_kernel("6.8");
  for (int night = 0; night < 7; ++night) world.night(1);
  world.update_kernel("6.1");  // so long ago that it is news again, while its control is known
  const int measured = static_cast<int>(world.commits.size()) - 1;
  world.machine = 1.06;
  world.control_level *= 1.06;
  world.level = [&](int position, const std::string& workload, const std::string& metric) {
    if (metric != "latency") return 3e8;
    const bool slower = position > measured && workload.find("/bert/train/") != std::string::npos;
    return .010 * world.machine * (slower ? 1.08 : 1);
  };
  world.night(1);
  CHECK(world.marks().size() == 10);
  REQUIRE(findings(world) == 1);
  CHECK(storage::list_regressions(world.db, {}, {}).items[0].series.front().ratio ==
        Approx(1.08).epsilon(.02));
}

TEST_CASE("a build that nobody accepted is no measure of the machine") {
  WideWorld world;
  for (int night = 0; night < 3; ++night) world.night();
  world.step_at = 40;
  world.night();  // all series are slower: three are confirmed, and the others have no level
  REQUIRE(world.count(RegressionState::reported) == 1);
  world.update_kernel("6.8");
  world.night();
  CHECK(world.marks().empty());
  for (const Regression& found : storage::regressions_in_state(world.db, RegressionState::reported))
    CHECK(found.culprit->commits == std::vector{world.commits[40]});
}

TEST_CASE("a class with runners of two kernels measures again once, and a builder never counts") {
  WideWorld world;
  Runner twin = world.runner;
  twin.id = {};
  twin.name = "twin";
  world.others.push_back(storage::register_runner(storage::Autocommit(world.db), twin));
  for (int night = 0; night < 3; ++night) world.night(2);
  world.update_kernel("6.8");  // the twin's stays
  world.night(2);
  CHECK(runs_of(screened(world), 1) > 0);
  for (int night = 0; night < 5; ++night) {
    world.night(2);
    CHECK(runs_of(screened(world), 1) == 0);
  }
  Runner builder = world.runner;
  builder.id = {};
  builder.name = "builder";
  builder.workloads = {};
  builder.facts = storage::intern_facts(
      storage::Autocommit(world.db),
      {builder.machine, web::sha256("x"), {{"cpu_model", "test lab"}, {"kernel", "7.0"}}},
      world.clock.now());
  builder.seen_at = world.clock.now();
  storage::register_runner(storage::Autocommit(world.db), builder);
  EngineContext context = world.context();
  const Night next = next_night(world);
  CHECK_FALSE(load_build_to_repeat(context, next, world.runner.machine));
}

TEST_CASE("a fact that is read for the first time is no update, and its next value is one") {
  WideWorld world;
  for (int night = 0; night < 2; ++night) world.night(2);
  world.update_fact("microcode", "0x1b");
  world.night(2);
  CHECK(storage::facts_of_machine(world.db, world.runner.machine).size() == 2);
  CHECK(runs_of(screened(world), 1) == 0);
  world.night(2);
  CHECK(runs_of(screened(world), 1) == 0);
  world.update_fact("microcode", "0x1c");  // nights of before, which had not read it, are near
  world.night(2);
  CHECK(runs_of(screened(world), 1) == runs_of(screened(world), 0));
  world.update_fact("kernel", "6.8");
  world.night(2);
  CHECK(runs_of(screened(world), 1) == runs_of(screened(world), 0));
}

TEST_CASE("the last build is repeated for new facts, and not beside itself") {
  WideWorld world;
  world.night(2);
  EngineContext context = world.context();
  const Night newest = storage::list_nights(world.db, {}).items.front();
  Night next = next_night(world);
  CHECK_FALSE(load_build_to_repeat(context, next, world.runner.machine));
  world.update_kernel("6.8");
  const auto last = load_build_to_repeat(context, next, world.runner.machine);
  REQUIRE(last);
  CHECK(last->id == *newest.build);
  CHECK_FALSE(load_build_to_repeat(context, next, MachineId{99}));
  next.build = newest.build;
  CHECK_FALSE(load_build_to_repeat(context, next, world.runner.machine));
}

TEST_CASE("what another variant's night measured last is not repeated") {
  WideWorld world;
  world.night(2);
  world.update_kernel("6.8");
  EngineContext context = world.context();
  CHECK(load_build_to_repeat(context, next_night(world), world.runner.machine));
  const Night other = night_of_variant(world, "cu126");
  CHECK_FALSE(load_build_to_repeat(context, other, world.runner.machine));
}

TEST_CASE("both builds of a screening take turns, between the same controls") {
  const EnvironmentSpec tonight{BuildId{2}, "", "", web::sha256("2"), {}, "", ""};
  const EnvironmentSpec last{BuildId{1}, "", "", web::sha256("1"), {}, "", ""};
  JobSpec spec;
  spec.environments = {tonight};
  spec.order = {{}, {0, 0}, {0, 1}, {}, {0, 0}, {}};
  measure_again(spec, last);
  std::vector<std::pair<int, int>> order;
  for (const PlannedRun& run : spec.order) order.emplace_back(run.environment, run.workload);
  REQUIRE(spec.environments.size() == 2);
  CHECK(spec.environments[1].build == last.build);
  CHECK(order == std::vector<std::pair<int, int>>{
                     {-1, -1}, {0, 0}, {1, 0}, {1, 1}, {0, 1}, {-1, -1}, {0, 0}, {1, 0}, {-1, -1}});
}
