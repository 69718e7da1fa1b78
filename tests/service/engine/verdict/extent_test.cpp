// Where else a finding was looked for: pure, from what one night saw.
#include "service/engine/verdict/extent.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::service;

namespace {

// A finding of dlrm's latency, series 1 on machine class 1. Others are seen beside it.
struct Seen {
  ExtentFacts facts;
  Regression finding;

  Seen() {
    finding.series = {{SeriesId{1}, 1, 1.2, 1.2, 1.1, 1.3}};
    finding.state = RegressionState::confirmed;
    facts.metric = "latency";
    facts.regressions = {finding};
    facts.shown = {series(1, 1, "dlrm")};
    for (const int machine : {1, 2, 3})
      facts.classes.push_back({MachineId{machine}, *Sha256::parse(std::string(64, '1')), {}});
    facts.classes[1].facts["gpu"] = "NVIDIA L4";
  }

  static Series series(int id, int machine, const std::string& model) {
    return {SeriesId{id},
            {},
            *WorkloadName::parse("python/" + model + "/eval/cpu/fp32/b1/eager"),
            1,
            "latency",
            MachineId{machine},
            "cpu"};
  }
  // The night's level is `ratio` times the one before.
  void see(const Series& series, double ratio,
           bisect::ScreenVerdict verdict = bisect::ScreenVerdict::same) {
    Observation one{series, bisect::policy_of_metric("latency", .07), {}, {}, {}, {}};
    one.screen.verdict = verdict;
    one.screen.level = ratio;
    one.screen.reference = 1;
    one.screen.change = ratio - 1;
    facts.observed[{series.machine, "latency"}].push_back(one);
  }
  void regression_of(int series, RegressionState state) {
    Regression other;
    other.state = state;
    other.series = {{SeriesId{series}, 1, 1.2, 1.2, 1.1, 1.3}};
    facts.regressions.push_back(other);
  }
  // Returns the row of class 2; nullopt if it has none.
  std::optional<AffectedClass> second() const {
    for (const AffectedClass& one : classes_elsewhere(facts))
      if (one.machine == MachineId{2}) return one;
    return std::nullopt;
  }
};

}  // namespace

TEST_CASE(
    "a class that measured the model and was no worse saw nothing, the worst ratio beside it") {
  Seen night;
  night.see(Seen::series(2, 2, "dlrm"), .99);
  Series other = Seen::series(3, 2, "dlrm");
  other.workload_name = *WorkloadName::parse("native/dlrm/train/cpu/fp32/b1/eager");
  night.see(other, 1.01);
  night.see(Seen::series(4, 2, "gpt2"), 1.02);
  const auto second = night.second();
  REQUIRE(second);
  CHECK(second->state == ClassState::not_seen);
  CHECK(second->ratio == Approx(1.01));
  CHECK_FALSE(second->low);
  CHECK(second->gpu == "NVIDIA L4");
  // Its own class has no row here, and the third measured nothing.
  const auto classes = classes_elsewhere(night.facts);
  REQUIRE(classes.size() == 2);
  CHECK(classes[1].machine == MachineId{3});
  CHECK(classes[1].state == ClassState::not_looked_for);
  CHECK_FALSE(classes[1].ratio);
}

TEST_CASE("a class that measured other models, or the model for the first time, did not look") {
  Seen night;
  night.see(Seen::series(2, 2, "gpt2"), 1);
  CHECK(night.second()->state == ClassState::not_looked_for);
  night.see(Seen::series(3, 2, "dlrm"), 1, bisect::ScreenVerdict::first_night);
  CHECK(night.second()->state == ClassState::not_looked_for);
}

TEST_CASE("a class whose machine moved tells neither that it has the finding nor that it has not") {
  Seen night;
  night.see(Seen::series(2, 2, "dlrm"), 1.2, bisect::ScreenVerdict::unclear);
  CHECK(night.second()->state == ClassState::not_looked_for);
  const ReportExtent extent = decide(night.facts, night.finding);
  CHECK(extent.worse.empty());
  CHECK(extent.not_seen.empty());
}

TEST_CASE("a class has no row while it is open whether it shows the finding, too") {
  using enum RegressionState;
  Seen night;
  night.see(Seen::series(2, 2, "dlrm"), 1.2, bisect::ScreenVerdict::suspect_worse);
  CHECK_FALSE(night.second());
  for (const RegressionState state : {suspected, confirmed, bisecting, unconfirmed}) {
    INFO(name_of(state));
    Seen open = night;
    open.regression_of(2, state);
    CHECK_FALSE(open.second());
  }
}

TEST_CASE("what was refuted side by side is not seen, in its series and in its class") {
  Seen night;
  night.see(Seen::series(2, 2, "dlrm"), 1.2, bisect::ScreenVerdict::suspect_worse);
  CHECK(decide(night.facts, night.finding).worse.size() == 1);
  night.regression_of(2, RegressionState::dismissed);
  const ReportExtent extent = decide(night.facts, night.finding);
  CHECK(extent.worse.empty());
  CHECK(extent.not_seen.size() == 1);
  CHECK(night.second()->state == ClassState::not_seen);
  CHECK_FALSE(night.second()->ratio);
}
