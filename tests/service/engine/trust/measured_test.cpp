#include "service/engine/trust/measured.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::service;

namespace {

const MachineId lab{3};

bool says(const MeasuredVerdicts& one, const std::string& part) {
  return std::any_of(one.not_measured.begin(), one.not_measured.end(), [&](const auto& sentence) {
    return sentence.find(part) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("where nothing was measured, nothing is said but what would measure it") {
  const MeasuredTrust nothing = measure({});
  CHECK(nothing.verdicts.empty());
  REQUIRE(nothing.searches.size() == 3);
  for (const MeasuredSearches& one : nothing.searches) {
    REQUIRE(one.not_measured);
    for (const auto& bin : one.bins) CHECK(bin.cases == 0);
  }
  CHECK(nothing.searches[2].not_measured->find("/cause") != std::string::npos);
}

TEST_CASE("false alarms are what was confirmed and then disproved, of series and nights") {
  TrustFacts facts;
  facts.judged = {{lab, "latency", Time{}, 30, 3000, 40, 36, SmallestSeen{90, .08, .078, .083}}};
  facts.confirmed = {{lab, "latency", 4, 1, 2}};
  const MeasuredTrust trust = measure(facts);
  REQUIRE(trust.verdicts.size() == 1);
  const MeasuredVerdicts& latency = trust.verdicts[0];
  CHECK(latency.false_alarms.cases == 3000);
  CHECK(latency.false_alarms.hits == 3);
  CHECK(*latency.false_alarms.share() == Approx(.001));
  CHECK(latency.false_alarms.interval.low == Approx(.000206).margin(.000002));
  CHECK(latency.false_alarms.interval.high == Approx(.00292).margin(.00001));
  CHECK_FALSE(says(latency, "False alarms"));
  CHECK_FALSE(says(latency, "computed yet"));
  CHECK(says(latency, "Builds against themselves"));
  CHECK(says(latency, "Planted changes"));
  CHECK_FALSE(latency.same_build.share());
}

TEST_CASE("a class cannot show a threshold that its smallest change is clearly over") {
  TrustFacts facts;
  facts.judged = {{lab, "compile_time", Time{}, 1, 9, 0, 0, {}},
                  {lab, "kernel_time", Time{}, 1, 9, 0, 0, SmallestSeen{9, .02, .02, .02}},
                  {lab, "latency", Time{}, 1, 9, 0, 0, SmallestSeen{9, .075, .07, .08}}};
  facts.thresholds = {{"compile_time", .07}, {"kernel_time", .005}, {"latency", .07}};
  const auto unable = cannot_show(facts);
  REQUIRE(unable.size() == 1);
  CHECK(unable[0].metric == "kernel_time");
  const auto verdicts = measure(facts).verdicts;
  CHECK_FALSE(verdicts.at(0).shows_threshold);
  CHECK(verdicts.at(1).shows_threshold == false);
  CHECK(verdicts.at(2).shows_threshold == true);
}

TEST_CASE("the power is told by size, and the smallest size needs enough cases") {
  TrustFacts facts;
  facts.cases = {{lab, "latency", 0, 50, 1},
                 {lab, "latency", .05, 40, 20},
                 {lab, "latency", .1, 35, 35},
                 {lab, "latency", .15, 36, 36}};
  const auto few = measure(facts).verdicts.at(0);
  CHECK(few.same_build.cases == 50);
  CHECK(few.same_build.hits == 1);
  REQUIRE(few.planted.size() == 3);
  CHECK(few.planted[0].change == .05);
  CHECK(*few.planted[0].seen.share() == .5);
  CHECK(few.smallest_planted == .15);  // 35 of 35: [.9000 - .0002, 1]
  CHECK(says(few, "False alarms"));
  CHECK(says(few, "12 repeated runs"));
  facts.cases[3].worse = 33;
  const auto none = measure(facts).verdicts.at(0);
  CHECK_FALSE(none.smallest_planted);
  CHECK(says(none, "36 of one size"));
  facts.cases[2].cases = facts.cases[2].worse = 36;
  CHECK(measure(facts).verdicts.at(0).smallest_planted == .1);
}

TEST_CASE("of a metric that calibration does not compare, its power is said to be unknown") {
  TrustFacts facts;
  facts.judged = {{lab, "peak_cpu_memory", Time{}, 1, 9, 0, 0, SmallestSeen{9, .07, .07, .08}},
                  {MachineId{2}, "latency", Time{}, 1, 9, 0, 0, {}}};
  const auto verdicts = measure(facts).verdicts;
  REQUIRE(verdicts.size() == 2);
  CHECK(verdicts[0].judged.machine == MachineId{2});
  CHECK(says(verdicts[0], "12 repeated runs"));
  CHECK(says(verdicts[1], "latency only"));
  CHECK(verdicts[1].not_measured.size() == 1);
  CHECK(verdicts[1].findings.metric == "peak_cpu_memory");
}

TEST_CASE("each source of predictions has bins of its own") {
  TrustFacts facts;
  facts.replays.named = {{.995, true}, {.995, true}};
  facts.replays.suspected = {{.3, false}};
  facts.told = {{.992, false}};
  const auto searches = measure(facts).searches;
  CHECK(searches[0].source == PredictionSource::replay_named);
  CHECK(searches[0].bins.back().right == 2);
  CHECK(searches[1].bins[2].cases == 1);
  CHECK(searches[2].source == PredictionSource::told);
  CHECK(searches[2].bins.back().cases == 1);
  CHECK(searches[2].bins.back().right == 0);
  for (const auto& one : searches) CHECK_FALSE(one.not_measured);
}
