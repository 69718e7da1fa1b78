// What a night's detection makes of a machine that moves, of creep, of marks, improvements and
// noise.
#include <catch2/catch.hpp>

#include "storage/calibration.hpp"
#include "storage/marks.hpp"
#include "storage/nights.hpp"
#include "tests/service/engine/night_world.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::NightWorld;

namespace {

const std::vector<std::string> kModels = {"alexnet", "bert", "dlrm", "resnet18", "unet"};

// A world with two workloads of each of five models, where everything may take longer for reasons
// of the machine (`machine`) or from a commit on (`step_at`).
struct WideWorld : NightWorld {
  double machine = 1;
  int step_at = 1'000'000;
  double step = 1.3;
  int day = 0;

  WideWorld() {
    runner.workloads.clear();
    for (const std::string& model : kModels)
      for (const char* mode : {"train", "eval"})
        runner.workloads.push_back("python/" + model + "/" + mode + "/cpu/fp32/b4/eager@1");
    runner = storage::register_runner(storage::Autocommit(db), runner);
    level = [this](int position, const std::string&, const std::string& metric) {
      if (metric != "latency") return 3e8;
      return .010 * machine * (position >= step_at ? step : 1);
    };
  }

  void night(int commits_before = 12) {
    grow(commits_before);
    char date[32];
    std::snprintf(date, sizeof date, "2026-%02d-%02d", 1 + day / 28, 1 + day % 28);
    ++day;
    nightly(date);
    settle();
    clock.advance(std::chrono::hours(20));
    storage::touch_runner(storage::Autocommit(db), runner.id, clock.now());
  }

  std::size_t count(RegressionState state) {
    return storage::regressions_in_state(db, state).size();
  }
  std::vector<storage::Mark> marks() { return storage::list_marks(db, {100, {}}).items; }
  // Regressions that the slow path opened.
  int creeps() {
    int found = 0;
    for (const Regression& regression : storage::list_regressions(db, {}, {500, {}}).items)
      found += storage::changes_of(db, regression.id).front().evidence.find("\"creep\"") !=
               std::string::npos;
    return found;
  }
  std::size_t issues() { return storage::list_messages(db, {100, {}}).items.size(); }
};

}  // namespace

TEST_CASE("a machine that became slower is one event, not ten regressions") {
  WideWorld world;
  world.night();
  world.night();
  world.machine = 1.3;
  world.night();
  CHECK(world.count(RegressionState::dismissed) == 3);  // the clearest, looked into side by side
  CHECK(world.issues() == 0);
  const auto marks = world.marks();
  REQUIRE(marks.size() == 1);
  CHECK(marks[0].actor == "nightjar");
  CHECK(marks[0].metric == "latency");
  const auto nights = storage::list_nights(world.db, {}).items;
  CHECK(nights.front().reason.find("10 of 10 series of latency") != std::string::npos);
  world.night();  // the new level is what is normal, but for what chance makes of a history of one
                  // night
  CHECK(world.count(RegressionState::dismissed) <= 6);
  CHECK(world.issues() == 0);
  CHECK(world.marks().size() == 1);
}

TEST_CASE("a commit that slows everything down is one issue, whatever the number of series") {
  WideWorld world;
  world.night();
  world.step_at = 18;
  world.night();
  const auto reported = storage::regressions_in_state(world.db, RegressionState::reported);
  REQUIRE(reported.size() == 1);
  CHECK(reported[0].culprit->commits == std::vector{world.commits[18]});
  CHECK(reported[0].series.size() == 3);
  CHECK(world.marks().empty());
  world.night();  // the others are still off their level: the same cause again
  const auto later = storage::regressions_in_state(world.db, RegressionState::reported);
  REQUIRE(later.size() == 1);
  CHECK(later[0].series.size() == 10);
  for (const OutboxMessage& message : storage::list_messages(world.db, {100, {}}).items)
    CHECK((message.kind == OutboxKind::comment || message.regression == reported[0].id));
}

TEST_CASE("a shift that a person marks begins a new level") {
  WideWorld world;
  world.night();
  storage::Mark mark;
  mark.at = world.clock.now();
  mark.actor = "token:t";
  mark.after_night = storage::newest_night(world.db);
  mark.workload = "python/bert/**";
  mark.reason = "other inputs";
  storage::add_mark(storage::Autocommit(world.db), mark);
  world.level = [](int position, const std::string& workload, const std::string& metric) {
    const bool bert = workload.find("/bert/") != std::string::npos;
    return metric == "latency" ? .010 * (bert && position > 12 ? 1.5 : 1) : 3e8;
  };
  world.night();
  CHECK(world.count(RegressionState::dismissed) == 0);
  CHECK(world.issues() == 0);
}

TEST_CASE("an improvement is recorded and not filed") {
  WideWorld world;
  world.night();
  world.level = [](int position, const std::string& workload, const std::string& metric) {
    const bool bert = workload.find("/bert/eval/") != std::string::npos;
    return metric == "latency" ? .010 * (bert && position > 12 ? .8 : 1) : 3e8;
  };
  world.night();
  const auto better = storage::list_improvements(world.db, {}).items;
  REQUIRE(better.size() == 1);
  CHECK(better[0].after / better[0].before == Approx(.8).epsilon(.05));
  CHECK(world.issues() == 0);
  CHECK(storage::list_regressions(world.db, {}, {}).items.empty());
}

TEST_CASE("a machine that creeps for weeks blames nobody and begins anew") {
  WideWorld world;
  world.noise = .005;
  for (int night = 0; night < 34; ++night) {
    world.machine = std::pow(1.0035, night);
    world.night(1);
  }
  CHECK(world.issues() == 0);
  CHECK(world.creeps() >= 5);
  CHECK(world.count(RegressionState::dismissed) ==
        storage::list_regressions(world.db, {}, {500, {}}).items.size());
  CHECK(world.marks().size() >= 5);
  // Once marked a series is left alone, instead of being looked into every night.
  CHECK(world.creeps() <= 12);
}

TEST_CASE(
    "a creep by commits is seen against the build of weeks ago, and each step stays unblamed") {
  WideWorld world;
  world.noise = .005;
  world.level = [](int position, const std::string& workload, const std::string& metric) {
    const bool bert = workload.find("/bert/eval/") != std::string::npos;
    return metric == "latency" ? .010 * (bert ? std::pow(1.0035, position) : 1) : 3e8;
  };
  for (int night = 0; night < 34; ++night) world.night(1);
  CHECK(world.creeps() == 1);
  CHECK(world.count(RegressionState::dismissed) <
        storage::list_regressions(world.db, {}, {500, {}}).items.size());
  for (const Regression& regression : storage::list_regressions(world.db, {}, {500, {}}).items)
    CHECK_FALSE(regression.culprit);
}

TEST_CASE("a noisy series gets more runs a night, a quiet one fewer") {
  for (const auto& [noise, runs] :
       {std::pair{.006, 3u}, std::pair{.025, 5u}, std::pair{.055, 10u}}) {
    WideWorld world;
    world.noise = noise;
    for (int night = 0; night < 6; ++night) world.night(1);
    const auto nights = storage::list_nights(world.db, {}).items;
    const auto jobs = storage::jobs_of_night(world.db, nights.front().id, JobKind::screen);
    REQUIRE_FALSE(jobs.empty());
    const auto& order = jobs.front().spec.order;
    const auto first = std::count_if(order.begin(), order.end(), [](const PlannedRun& run) {
      return !run.is_control() && run.workload == 0;
    });
    CHECK(first == runs);
  }
}

TEST_CASE("a machine whose control moved for good loses a night and goes on") {
  WideWorld world;
  for (int night = 0; night < 4; ++night) world.night(1);
  for (int night = 0; night < 3; ++night) world.night(1);
  world.machine = 1.3;
  world.control_level *= 1.3;
  world.night(1);
  auto nights = storage::list_nights(world.db, {}).items;
  CHECK(nights.front().reason.find("void three times") != std::string::npos);
  for (int night = 0; night < 2; ++night) world.night(1);
  nights = storage::list_nights(world.db, {}).items;
  CHECK(nights.front().reason.empty());
  CHECK(world.issues() == 0);
  CHECK_FALSE(world.marks().empty());
}

TEST_CASE("a share of each night goes to cases whose truth is known") {
  WideWorld world;
  world.run_seconds = 2;
  world.config.calibration.share = .2;
  for (int night = 0; night < 8; ++night) world.night(1);
  int same = 0, alarms = 0, planted = 0, seen = 0;
  for (const auto& count : storage::count_calibrations(world.db)) {
    (count.planted == 0 ? same : planted) += count.cases;
    (count.planted == 0 ? alarms : seen) += count.worse;
  }
  // 8 nights of 10 workloads, 5 runs and 2 seconds: 40 of 200 cases' worth of time, at 20 runs a
  // case.
  CHECK(same + planted >= 3);
  CHECK(same + planted <= 5);
  CHECK(alarms == 0);
  CHECK(planted >= 1);
  CHECK(seen == planted);
  CHECK(world.issues() == 0);
  // From the sixth night on there are recorded runs enough to try the search on, a series a tick.
  const CalibrationTotals totals = storage::calibration_totals(world.db, world.runner.machine);
  CHECK(totals.planted == planted);
  CHECK(totals.seen == seen);
  CHECK(totals.searches >= 6);
  CHECK(totals.exact == totals.searches);
  CHECK(storage::calibration_totals(world.db, MachineId{99}).searches == 0);
}

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
  CHECK(messages[0].title.find("bert train: fails since") != std::string::npos);
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
