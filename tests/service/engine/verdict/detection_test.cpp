// What a night's detection makes of a machine that moves, of creep, of marks, improvements and
// noise.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <catch2/catch.hpp>

#include "service/engine/jobs/session_check.hpp"
#include "service/engine/verdict/observation.hpp"
#include "storage/calibration.hpp"
#include "storage/connection.hpp"
#include "storage/jobs.hpp"
#include "storage/marks.hpp"
#include "storage/nights.hpp"
#include "storage/regressions.hpp"
#include "tests/service/engine/verdict/wide_world.hpp"
#include "tests/support/autocommit.hpp"

using namespace nightjar;
using namespace nightjar::service;
using service::test::WideWorld;

namespace {

// bert/eval takes `level` times as long as it did, whatever the commit.
void follow_bert(WideWorld& world, const double& level) {
  world.level = [&level](int, const std::string& workload, const std::string& metric) {
    const bool bert = workload.find("/bert/eval/") != std::string::npos;
    return metric == "latency" ? .010 * (bert ? level : 1) : 3e8;
  };
}

// The machine is slower by 6 % for a night, as its control says, and these models by 18 %.
void slow_night(WideWorld& world, const std::vector<std::string>& most) {
  const double control = world.control_level;
  const auto as_ever = world.level;
  world.noise = .005;
  world.level = [&](int, const std::string& workload, const std::string& metric) {
    const bool is_most = std::any_of(most.begin(), most.end(), [&](const std::string& model) {
      return workload.find("/" + model + "/") != std::string::npos;
    });
    return metric == "latency" ? .010 * (is_most ? 1.18 : 1.06) : 3e8;
  };
  world.control_level *= 1.06;
  world.night(1);
  world.control_level = control;
  world.level = as_ever;
}

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

TEST_CASE("where most got better together levels begin anew, though nothing was looked into") {
  WideWorld world;
  world.night();
  world.night();
  world.machine = .7;
  world.night();
  const auto marks = world.marks();
  REQUIRE(marks.size() == 1);
  CHECK(marks[0].reason == "most series got better together, so nothing was compared side by side");
  CHECK(storage::list_regressions(world.db, {}, {}).items.empty());
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

TEST_CASE(
    "each confirmation says by how many suspects its bar was set, and how many were confirmed") {
  WideWorld world;
  world.night();
  world.step_at = 18;
  world.night();
  std::size_t with_bar = 0;  // the newest first
  for (const Regression& regression : storage::list_regressions(world.db, {}, {500, {}}).items)
    for (const RegressionChange& change : storage::changes_of(world.db, regression.id)) {
      if (change.evidence.text.find("\"stage\":\"confirmation\"") == std::string::npos) continue;
      INFO(change.evidence.text);
      CHECK(change.evidence.text.find("\"suspects\":3") != std::string::npos);
      CHECK(change.evidence.text.find("\"confirmed\":" + std::to_string(2 - with_bar)) !=
            std::string::npos);
      ++with_bar;
    }
  CHECK(with_bar == 3);
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
  CHECK(storage::list_improvements(world.db, {}).items.empty());
  world.night();  // that shows it again
  const auto better = storage::list_improvements(world.db, {}).items;
  REQUIRE(better.size() == 1);
  CHECK(better[0].build == *storage::find_night(world.db, NightId{2})->build);
  CHECK(better[0].night == NightId{3});
  CHECK(better[0].after / better[0].before == Approx(.8).epsilon(.05));
  CHECK(world.issues() == 0);
  CHECK(storage::list_regressions(world.db, {}, {}).items.empty());
}

TEST_CASE("an improvement is recorded once, however many nights it is seen in") {
  WideWorld world;
  double level = 1;
  follow_bert(world, level);
  for (int night = 0; night < 3; ++night) world.night();
  level = .8;
  for (int night = 0; night < 4; ++night) world.night();
  CHECK(storage::list_improvements(world.db, {}).items.size() == 1);
  level = .6;
  for (int night = 0; night < 3; ++night) world.night();
  CHECK(storage::list_improvements(world.db, {}).items.size() == 2);
}

TEST_CASE("what is better for one night only is no improvement, and nothing got worse after it") {
  WideWorld world;
  double level = 1;
  follow_bert(world, level);
  for (int night = 0; night < 3; ++night) world.night();
  level = .8;
  world.night();
  level = 1;
  for (int night = 0; night < 3; ++night) world.night();
  CHECK(storage::list_improvements(world.db, {}).items.empty());
  CHECK(world.issues() == 0);
  CHECK(world.levels("bert/eval", "latency").front().value == Approx(.010).epsilon(.02));
}

TEST_CASE("what gets worse the night after an improvement is held against the better level") {
  WideWorld world;
  world.level = [](int position, const std::string& workload, const std::string& metric) {
    if (metric != "latency") return 3e8;
    const bool bert = workload.find("/bert/eval/") != std::string::npos;
    return .010 * (!bert || position <= 36 ? 1 : position <= 48 ? .8 : .95);
  };
  for (int night = 0; night < 6; ++night) world.night();
  const auto found = storage::list_regressions(world.db, {}, {}).items;
  REQUIRE(found.size() == 1);
  CHECK(found[0].state == RegressionState::reported);
  CHECK(found[0].series.front().before == Approx(.008).epsilon(.02));
}

TEST_CASE("what gets worse soon after an improvement is held against the better level") {
  WideWorld world;
  world.level = [](int position, const std::string& workload, const std::string& metric) {
    if (metric != "latency") return 3e8;
    const bool bert = workload.find("/bert/eval/") != std::string::npos;
    return .010 * (!bert || position <= 36 ? 1 : position <= 60 ? .8 : .95);
  };
  for (int night = 0; night < 6; ++night) world.night();
  CHECK(storage::list_improvements(world.db, {}).items.size() == 1);
  const auto found = storage::list_regressions(world.db, {}, {}).items;
  REQUIRE(found.size() == 1);
  CHECK(found[0].state == RegressionState::reported);
  CHECK(found[0].series.front().before == Approx(.008).epsilon(.02));
}

TEST_CASE("a build that is measured again is neither worse nor better, and makes no level") {
  WideWorld world;
  world.night();
  const std::vector<Level> before = world.levels("bert/train", "latency");
  REQUIRE(before.size() == 1);
  for (const double machine : {1.3, .7}) {
    world.machine = machine;
    world.same_build_again();
    const std::vector<Level> after = world.levels("bert/train", "latency");
    REQUIRE(after.size() == 1);
    CHECK(after[0].value == Approx(before[0].value));
    CHECK(after[0].night == before[0].night);
  }
  CHECK(storage::list_improvements(world.db, {}).items.empty());
  CHECK(storage::list_regressions(world.db, {}, {}).items.empty());
  CHECK(world.marks().empty());
  world.machine = 1;
  world.step_at = 18;
  world.night();  // the slow night did not hide the step
  CHECK(world.count(RegressionState::reported) == 1);
}

TEST_CASE("a metric that a workload no longer gives keeps its last level, and nothing else") {
  WideWorld world;
  world.noise = .01;
  world.night();
  REQUIRE(world.levels("bert/train", "peak_cpu_memory").size() == 1);
  world.without = "peak_cpu_memory";
  for (int night = 0; night < 3; ++night) world.night();
  CHECK(world.levels("bert/train", "peak_cpu_memory").size() == 1);
  CHECK(world.levels("bert/train", "latency").size() == 4);
  world.without.clear();
  world.level = [](int position, const std::string& workload, const std::string& metric) {
    const bool grown = position > 48 && workload.find("/bert/train/") != std::string::npos;
    return metric == "latency" ? .010 : 3e8 * (grown ? 1.3 : 1);
  };
  world.night();  // it is held against the level of before, and is no first night
  CHECK(world.count(RegressionState::dismissed) == 0);
  REQUIRE(storage::list_regressions(world.db, {}, {}).items.size() == 1);
  CHECK(storage::list_regressions(world.db, {}, {}).items[0].series[0].before ==
        Approx(3e8).epsilon(.02));
}

TEST_CASE("a run that fails makes no level, even with samples that look fast") {
  WideWorld world;
  world.night();
  const std::vector<Level> before = world.levels("bert/train", "latency");
  world.crashes = [](int position, const std::string& workload) {
    return position >= 13 && workload.find("/bert/train/") != std::string::npos;
  };
  world.samples_of_failed = .0001;
  world.night();
  const std::vector<Level> after = world.levels("bert/train", "latency");
  REQUIRE(after.size() == before.size());
  CHECK(after[0].value == Approx(before[0].value));
  CHECK(storage::list_improvements(world.db, {}).items.empty());
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

TEST_CASE("a machine whose control moved for good loses a night, waits for another, and goes on") {
  WideWorld world;
  for (int night = 0; night < 4; ++night) world.night(1);
  for (int night = 0; night < 3; ++night) world.night(1);
  world.machine = 1.3;
  world.control_level *= 1.3;
  world.night(1);
  auto nights = storage::list_nights(world.db, {}).items;
  CHECK(nights.front().reason.find("void three times") != std::string::npos);
  for (int night = 0; night < 3; ++night) world.night(1);
  nights = storage::list_nights(world.db, {}).items;
  CHECK(nights.front().reason.empty());
  CHECK(world.issues() == 0);
  CHECK_FALSE(world.marks().empty());
}

TEST_CASE("a night whose control moved as its series did is unclear: no suspicion and no level") {
  WideWorld world;
  world.noise = .005;
  for (int night = 0; night < 6; ++night) world.night(1);
  const std::size_t latencies = world.levels("bert/train", "latency").size(),
                    memories = world.levels("bert/train", "peak_cpu_memory").size();
  double bert = 1;
  follow_bert(world, bert);
  const auto like_bert = world.level;
  world.level = [&](int position, const std::string& workload, const std::string& metric) {
    return like_bert(position, workload, metric) * (metric == "latency" ? world.machine : 1);
  };
  world.machine = 1.06;
  world.control_level *= 1.06;
  bert = 1.3;  // more than the machine explains
  world.night(1);
  const auto found = storage::regressions_of_night(world.db, NightId{7});
  REQUIRE(found.size() == 1);
  CHECK(found.front().series.front().ratio > 1.2);
  CHECK(world.levels("bert/train", "latency").size() == latencies);
  CHECK(world.levels("bert/train", "peak_cpu_memory").size() == memories + 1);
  const std::string why = storage::changes_of(world.db, found.front().id).front().evidence.text;
  CHECK_THAT(why, Catch::Contains("\"controls\":[{\"gauge\":\"cpu\",\"moved\":0.05"));
  CHECK_THAT(storage::find_night(world.db, NightId{7})->reason,
             Catch::StartsWith("9 of 10 series of latency on machine class 1 are unclear"));
  world.machine = 1;
  world.control_level /= 1.06;
  world.night(1);
  CHECK(world.levels("bert/train", "latency").size() == latencies + 1);
  CHECK(world.marks().empty());
}

TEST_CASE("of series that are together by the unclear ones a few are examined, and levels stay") {
  WideWorld world;
  world.noise = .005;
  for (int night = 0; night < 6; ++night) world.night(1);
  slow_night(world, {"alexnet", "bert"});
  CHECK(storage::regressions_of_night(world.db, NightId{7}).size() == 3);
  CHECK(world.count(RegressionState::dismissed) == 3);
  CHECK_THAT(storage::find_night(world.db, NightId{7})->reason,
             Catch::Contains("10 of 10 series of latency on machine class 1 moved together; the 3 "
                             "clearest are looked into") &&
                 Catch::Contains("6 of 10 series of latency on machine class 1 are unclear"));
  CHECK(world.marks().empty());
  CHECK(world.levels("dlrm/train", "latency").front().night == NightId{6});
}

TEST_CASE("unclear series begin anew with those that moved together without them") {
  WideWorld world;
  world.noise = .005;
  for (int night = 0; night < 6; ++night) world.night(1);
  slow_night(world, {"alexnet", "bert", "dlrm", "resnet18"});
  CHECK(world.count(RegressionState::dismissed) == 3);
  CHECK(world.marks().size() == 1);
  const Level newest = world.levels("unet/train", "latency").front();
  CHECK(newest.night == NightId{7});
  CHECK(newest.value == Approx(.0106).epsilon(.02));
}

TEST_CASE("better series are held as ever though one beside them is unclear") {
  Observations observed;
  auto& group = observed[{MachineId{1}, "latency"}];
  for (int i = 0; i < 10; ++i) {
    const std::string model = service::test::model_names[static_cast<std::size_t>(i) / 2];
    Observation one{{SeriesId{i + 1},
                     {},
                     *WorkloadName::parse("python/" + model + "/eval/cpu/fp32/b1/eager"),
                     1,
                     "latency",
                     MachineId{1},
                     "cpu"},
                    {},
                    {},
                    {},
                    {},
                    {}};
    one.screen.verdict =
        i == 0 ? bisect::ScreenVerdict::unclear : bisect::ScreenVerdict::suspect_better;
    group.push_back(one);
  }
  CHECK(moved_together(group).held.size() == 9);
  CHECK(moved_together(group).begins_again);
  // One that is under suspicion already is looked into elsewhere, and is not held here.
  for (Observation& one : group) one.screen.verdict = bisect::ScreenVerdict::unclear;
  group[1].screen.verdict = bisect::ScreenVerdict::suspect_worse;
  CHECK(moved_together(group).held.size() == 1);
  CHECK_FALSE(moved_together(group).begins_again);
  group[1].suspicious = true;
  group[2].screen.verdict = bisect::ScreenVerdict::suspect_better;
  CHECK(moved_together(group).held.empty());
}

TEST_CASE("a session that differs from its class for good hides a change for three nights only") {
  WideWorld world;
  world.noise = .005;
  double bert = 1;
  follow_bert(world, bert);
  for (int night = 0; night < 6; ++night) world.night(1);
  bert = 1.09;
  std::vector<std::size_t> found;
  for (int night = 0; night < 4; ++night) {
    world.db.impl().execute("UPDATE session_check SET control = .233");  // that of other runners
    world.night(1);
    found.push_back(storage::list_regressions(world.db, {}, {}).items.size());
  }
  CHECK(found == std::vector<std::size_t>{0, 0, 0, 1});
}

TEST_CASE("what is better as its machine is holds nothing, and shows no improvement") {
  WideWorld world;
  world.noise = .005;
  double bert = 1;
  follow_bert(world, bert);
  const auto like_bert = world.level;
  world.level = [&](int position, const std::string& workload, const std::string& metric) {
    return like_bert(position, workload, metric) * (metric == "latency" ? world.machine : 1);
  };
  for (int night = 0; night < 6; ++night) world.night(1);
  bert = .9;
  world.night(1);
  bert = 1;
  world.machine = .9;
  world.control_level *= .9;
  world.night(1);
  CHECK(storage::list_improvements(world.db, {}).items.empty());
  bert = .7;  // more than the machine explains, unlike all others
  world.night(1);
  CHECK(world.marks().empty());
  CHECK(world.levels("dlrm/train", "latency").size() == 7);
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

TEST_CASE("one metric alone gives the verdicts that all metrics give") {
  WideWorld world;
  double night = 0;
  int runs = 0;
  std::map<std::string, std::size_t> of_bert;
  // Two models are wild, one creeps, one gets worse in the end, and one gets better. The levels of
  // bert are steady, so in the night in which its control moves, too, only its noise explains it.
  world.level = [&](int, const std::string& workload, const std::string& metric) {
    if (metric != "latency") return 3e8;
    const auto is = [&](const char* model) { return workload.find(model) != std::string::npos; };
    if (is("/bert/") && night == 7) return .010 * 1.045;
    if (is("/bert/")) return .010 * std::array{1., .7, 1.3, .75, 1.25}[++of_bert[workload] % 5];
    if (is("/dlrm/")) return .010 * (1 + .4 * std::fmod(++runs * .618034, 1));
    if (is("/unet/")) return .010 * (1 + .02 * night);
    return .010 * (is("/alexnet/") && night >= 14 ? 1.2 : is("/resnet18/") && night >= 8 ? .8 : 1);
  };
  int worse = 0, better = 0, wild = 0;
  for (; night < 16; ++night) {
    world.control_level = night == 7 ? .25 * 1.08 : .25;
    world.night();
    const EngineContext context = world.context();
    const Night last = storage::list_nights(world.db, {}).items.front();
    const auto jobs = storage::jobs_of_night(world.db, last.id, JobKind::screen);
    const auto usable = outcomes_of(world.db, jobs).usable;
    const Observations all = observe(context, last, usable);
    for (const auto& [group, alone] : observe(context, last, usable, "latency")) {
      const auto& together = all.at(group);
      REQUIRE(alone.size() == together.size());
      for (std::size_t i = 0; i < alone.size(); ++i) {
        INFO("night " << night << ", " << alone[i].series.workload_name.str());
        CHECK(alone[i].screen.verdict == together[i].screen.verdict);
        CHECK(alone[i].screen.change == together[i].screen.change);
        CHECK(alone[i].improved.has_value() == together[i].improved.has_value());
        if (alone[i].worse()) CHECK(alone[i].policy.threshold == together[i].policy.threshold);
        worse += alone[i].worse();
        better += alone[i].better() || alone[i].improved;
        wild += together[i].noise.kind == bisect::NoiseClass::wild;
      }
    }
  }
  CHECK(worse > 0);
  CHECK(better > 0);
  CHECK(wild > 0);
}
