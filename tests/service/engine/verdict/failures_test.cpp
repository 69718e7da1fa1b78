// What opens a finding besides a number that got worse: a run that crashes, a build that cannot be
// imported, another result.
#include <catch2/catch.hpp>

#include "service/engine/obstacles.hpp"
#include "storage/bisections.hpp"
#include "storage/confirmations.hpp"
#include "tests/service/engine/verdict/wide_world.hpp"

using namespace nightjar;
using namespace nightjar::service;
using Catch::Contains;
using service::test::WideWorld;

namespace {

std::vector<Regression> reported(const WideWorld& world) {
  return storage::regressions_in_state(world.db, RegressionState::reported);
}

std::string metric_of(const WideWorld& world, const Regression& regression) {
  return storage::find_series(world.db, regression.series.front().series)->metric;
}

bool is_bert_train(const std::string& workload) {
  return workload.find("/bert/train/") != std::string::npos;
}

}  // namespace

TEST_CASE("a workload that crashes since a commit is a regression with that culprit") {
  WideWorld world;
  world.night();
  world.crashes = [](int position, const std::string& workload) {
    return position >= 17 && workload.find("/bert/train/") != std::string::npos;
  };
  world.night();
  const auto reported = storage::regressions_in_state(world.db, RegressionState::reported);
  REQUIRE(reported.size() == 1);
  CHECK(reported[0].culprit->commits == std::vector{world.commits[17]});
  CHECK(storage::find_series(world.db, reported[0].series[0].series)->metric == "failures");
  const auto messages = storage::list_messages(world.db, {}).items;
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].title.find("bert train: crashes since") != std::string::npos);
  CHECK(messages[0].body.find("Segmentation fault") != std::string::npos);
  CHECK(messages[0].body.find("passes") != std::string::npos);
}

TEST_CASE("a workload that fails now and then, whatever the build, blames nobody") {
  WideWorld world;
  std::mt19937_64 random(5);
  world.crashes = [&](int, const std::string& workload) {
    return workload.find("/bert/train/") != std::string::npos && random() % 4 == 0;
  };
  for (int night = 0; night < 8; ++night) world.night(4);
  CHECK(world.issues() == 0);
  CHECK(world.count(RegressionState::reported) == 0);
}

TEST_CASE("a workload that fails more often since a commit is found all the same") {
  WideWorld world;
  std::mt19937_64 random(6);
  world.crashes = [&](int position, const std::string& workload) {
    const bool bert = workload.find("/bert/train/") != std::string::npos;
    return bert && random() % 100 < (position >= 17 ? 95 : 5);
  };
  world.night();
  world.night();
  const auto reported = storage::regressions_in_state(world.db, RegressionState::reported);
  REQUIRE(reported.size() == 1);
  CHECK(reported[0].culprit->commits == std::vector{world.commits[17]});
}

TEST_CASE("a nightly that cannot be imported is one finding with its commit and all workloads") {
  WideWorld world;
  world.night();
  world.imports = [](int position) { return position < 17; };
  world.night();
  REQUIRE(reported(world).size() == 1);
  const Regression found = reported(world).front();
  CHECK(found.culprit->commits == std::vector{world.commits[17]});
  CHECK(metric_of(world, found) == "failures");
  const auto messages = storage::list_messages(world.db, {}).items;
  REQUIRE(messages.size() == 1);
  CHECK_THAT(messages[0].title, Contains("cannot be imported since"));
  CHECK_THAT(messages[0].body, Contains("broken_environment: ImportError"));
  for (const std::string& workload : world.runner.workloads)
    CHECK_THAT(messages[0].body, Contains(workload.substr(0, workload.find('@'))));
  CHECK(world.count(RegressionState::confirmed) == 0);
}

TEST_CASE("a build that cannot be imported on the first night is told to the operator") {
  WideWorld world;
  world.imports = [](int) { return false; };
  world.night();
  CHECK(world.issues() == 0);
  const NightFacts facts = night_facts(world.context());
  Surroundings around;
  around.surveyed = true;
  const auto found = find_obstacles(around, facts, world.config);
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == ObstacleKind::build);
  CHECK_THAT(found[0].reason, Contains("could not be imported in any run") &&
                                  Contains("ImportError") && Contains("python_tag"));
  world.imports = [](int) { return true; };
  world.night();
  CHECK(find_obstacles(around, night_facts(world.context()), world.config).empty());
}

TEST_CASE("a workload that gives another result since a commit is a finding with that culprit") {
  WideWorld world;
  world.night();
  world.gives = [](int position, const std::string& workload) {
    return position >= 17 && is_bert_train(workload) ? 12.9 : 12.5;
  };
  world.night();
  REQUIRE(reported(world).size() == 1);
  CHECK(reported(world)[0].culprit->commits == std::vector{world.commits[17]});
  CHECK(metric_of(world, reported(world)[0]) == "failures");
  const auto messages = storage::list_messages(world.db, {}).items;
  REQUIRE(messages.size() == 1);
  CHECK_THAT(messages[0].title, Contains("bert train: gives another result since"));
  CHECK_THAT(messages[0].body, Contains("the checksum of the output is 12.9; that of the last "
                                        "build that passed is 12.5, and may differ by 0.1 %"));

  SECTION("which stays one while it lasts, and its latency is still measured") {
    for (int night = 0; night < 4; ++night) world.night();
    CHECK(world.issues() == 1);
    CHECK(world.count(RegressionState::reported) == 1);
    for (const Series& series : storage::list_series(world.db, {}, {1000, {}}).items)
      CHECK(storage::levels_before(world.db, series.id, NightId{1000}, 100).size() == 6);
  }
  SECTION("which is over when the result is back") {
    world.gives = [](int, const std::string&) { return 12.5; };
    for (int night = 0; night < 4; ++night) world.night();
    CHECK(world.count(RegressionState::recovered) == 1);
  }
  SECTION("which is over when somebody takes the new result for right") {
    storage::Mark mark;
    mark.at = world.clock.now();
    mark.actor = "token:someone";
    mark.after_night = storage::list_nights(world.db, {}).items.front().id;
    mark.machine = world.runner.machine;
    mark.workload = "python/bert/train/cpu/fp32/b4/eager";
    mark.metric = "failures";
    mark.reason = "the new initialisation is intended";
    storage::add_mark(storage::Autocommit(world.db), mark);
    for (int night = 0; night < 4; ++night) world.night();
    CHECK(world.count(RegressionState::recovered) == 1);
    CHECK(world.count(RegressionState::confirmed) == 0);
  }
}

TEST_CASE("results that differ by what arithmetic in another order makes say nothing") {
  WideWorld world;
  world.night();
  world.gives = [](int position, const std::string&) { return position >= 17 ? 12.51 : 12.5; };
  world.night();
  CHECK(world.issues() == 0);
  CHECK(storage::list_regressions(world.db, {}, {100, {}}).items.empty());
}

TEST_CASE("a workload whose own runs give different results is not compared") {
  WideWorld world;
  std::mt19937_64 random(3);
  world.gives = [&](int, const std::string&) {
    return 12 + std::uniform_real_distribution<double>(0, 1)(random);
  };
  for (int night = 0; night < 4; ++night) world.night();
  CHECK(storage::list_regressions(world.db, {}, {100, {}}).items.empty());
}

TEST_CASE("a commit that fails in another way says nothing of the failure that is searched") {
  WideWorld world;
  world.night();
  world.crashes = [](int position, const std::string& workload) {
    return position >= 17 && is_bert_train(workload);
  };
  world.imports = [](int position) { return position < 13 || position > 15; };
  world.night();
  REQUIRE(reported(world).size() == 1);
  CHECK(reported(world)[0].culprit->commits == std::vector{world.commits[17]});
}

TEST_CASE("a failure is repeated on another runner of its machine class") {
  WideWorld world;
  Runner twin = world.runner;
  twin.id = {};
  twin.name = "twin";
  world.others.push_back(storage::register_runner(storage::Autocommit(world.db), twin));
  world.night();
  world.crashes = [](int position, const std::string& workload) {
    return position >= 17 && is_bert_train(workload);
  };
  std::set<RunnerId> screened, confirmed;
  world.on_claim = [&](const Job& job) {
    const bool bert = job.spec.workloads.size() == 1
                          ? is_bert_train(job.spec.workloads[0].name.str())
                          : job.spec.kind == JobKind::screen;
    if (bert && job.spec.kind == JobKind::screen) screened.insert(*job.runner);
    if (bert && job.spec.kind == JobKind::confirm) confirmed.insert(*job.runner);
    return true;
  };
  world.night();
  REQUIRE(reported(world).size() == 1);
  REQUIRE(screened.size() == 1);
  REQUIRE(confirmed.size() == 1);
  CHECK(*screened.begin() != *confirmed.begin());
}
