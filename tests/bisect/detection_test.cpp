#include "bisect/detection.hpp"

#include <catch2/catch.hpp>

#include "tests/support/search_world.hpp"

using namespace nightjar;
using namespace nightjar::bisect;

namespace {

// Runs of an unchanged and of a changed build, in the search's world: one-sided outliers, layout.
struct Night {
  std::vector<double> good, bad;
  test::World world;

  Night(double cv, double effect, std::uint64_t seed) : world(options(cv, effect), seed) {}
  static test::WorldOptions options(double cv, double effect) {
    test::WorldOptions out;
    out.commits = 1;
    out.cv = cv;
    if (effect != 0) out.planted = {{1, effect}};
    return out;
  }
  void measure_until(int runs) {
    world.new_session();
    while (static_cast<int>(good.size()) < runs) {
      good.push_back(std::exp(world.measure(0)));
      bad.push_back(std::exp(world.measure(1)));
    }
  }
  Confirmation judge(const DetectionPolicy& policy) {
    Confirmation out;
    while (out.verdict == Confirmation::Verdict::more) {
      measure_until(out.runs_a_side > 0 ? out.runs_a_side : 1);
      out = confirm(good, bad, policy);
    }
    return out;
  }
};

std::vector<double> repeated(double value, int times) {
  return std::vector<double>(static_cast<std::size_t>(times), value);
}

}  // namespace

TEST_CASE("the first night has nothing to be held against") {
  const std::vector<double> tonight = {1.0, 1.1, 1.2};
  const auto out = screen({}, tonight, {});
  CHECK(out.verdict == Screen::Verdict::first_night);
  CHECK(out.level == Approx(1.1));
}

TEST_CASE("screening suspects a change over 3 % that stands out of the noise") {
  const std::vector<double> levels = {1.00, 1.01, .99, 1.00, 1.005};
  CHECK(screen(levels, std::vector{1.00, 1.01, .99, 1.02, 1.00}, {}).verdict ==
        Screen::Verdict::same);
  CHECK(screen(levels, std::vector{1.08, 1.07, 1.09, 1.08, 1.06}, {}).verdict ==
        Screen::Verdict::suspect_worse);
  CHECK(screen(levels, std::vector{.90, .91, .92, .90, .91}, {}).verdict ==
        Screen::Verdict::suspect_better);
  // 8 % up, but within what such a noisy series does.
  const std::vector<double> restless = {1.0, 1.15, .88, 1.1, .9};
  CHECK(screen(restless, std::vector{1.05, 1.2, .95, 1.1, 1.1}, {}).verdict ==
        Screen::Verdict::same);
}

TEST_CASE("where higher is better, less is worse") {
  DetectionPolicy policy;
  policy.direction = Direction::higher_is_better;
  const std::vector<double> levels = {100, 101, 99, 100};
  CHECK(screen(levels, std::vector{90., 91., 92., 90., 91.}, policy).verdict ==
        Screen::Verdict::suspect_worse);
  const auto out = confirm(repeated(100, 10), repeated(90, 10), policy);
  CHECK(out.verdict == Confirmation::Verdict::worse);
  CHECK(out.change.ratio == Approx(.9));
}

TEST_CASE("confirmation climbs the ladder of runs") {
  CHECK(confirm({}, {}, {}).runs_a_side == 5);
  const auto some = confirm(repeated(1, 3), repeated(1, 5), {});
  CHECK(some.verdict == Confirmation::Verdict::more);
  CHECK(some.runs_a_side == 5);
  const std::vector<double> wide = {1, 1.2, .9, 1.1, 1}, higher = {1.1, 1.3, 1, 1.2, 1.1};
  const auto more = confirm(wide, higher, {});
  CHECK(more.verdict == Confirmation::Verdict::more);
  CHECK(more.runs_a_side == 10);
  DetectionPolicy steady;
  steady.repeatability = Repeatability::steady;
  CHECK(confirm({}, {}, steady).runs_a_side == 3);
}

TEST_CASE("a change below what the series can show must be proven, and is named once it is") {
  std::vector<double> good, bad;
  for (int i = 0; i < 120; ++i) {
    good.push_back(1 + .02 * (i % 9 - 4));
    bad.push_back(1.09 * good.back());
  }
  const auto judged = [&](std::size_t runs, double smallest_shown) {
    DetectionPolicy policy;
    policy.smallest_shown = smallest_shown;
    return confirm(std::span(good).first(runs), std::span(bad).first(runs), policy);
  };
  using enum ConfirmationVerdict;
  CHECK(judged(40, 0).verdict == worse);  // the lower bound is between half the threshold and it
  CHECK(judged(40, .08).verdict == worse);
  CHECK(judged(40, .12).verdict == more);
  for (double& value : bad) value *= 1.11 / 1.09;
  CHECK(judged(120, .12).verdict == worse);  // the lower bound is over the threshold
  for (double& value : bad) value *= 1.072 / 1.11;
  CHECK(judged(120, 0).verdict == worse);
  CHECK(judged(120, .12).verdict == inconclusive);
  CHECK(judged(120, .12).rule.ends_with("smallest change seen with probability .9 here: 12 %"));
}

TEST_CASE("where no runs are to come, five a side may decide") {
  const std::vector<double> low = {1, 1.05, .98, 1.02, 1}, high = {1.8, 1.9, 1.75, 1.84, 2};
  CHECK(confirm(low, high, {}).verdict == Confirmation::Verdict::more);
  CHECK(confirm(low, high, {}, RunsToCome::none).verdict == Confirmation::Verdict::worse);
  const std::vector<double> unclear = {1.1, 1.3, 1, 1.2, 1.1};
  const auto open = confirm(low, unclear, {}, RunsToCome::none);
  CHECK(open.verdict == Confirmation::Verdict::inconclusive);
  CHECK(open.runs_a_side == 5);
  CHECK(confirm(repeated(1, 3), repeated(2, 3), {}, RunsToCome::none).verdict ==
        Confirmation::Verdict::more);
}

TEST_CASE("three equal runs decide on steady memory") {
  DetectionPolicy policy;
  policy.repeatability = Repeatability::steady;
  CHECK(confirm(repeated(1e9, 3), repeated(1e9, 3), policy).verdict == Confirmation::Verdict::same);
  CHECK(confirm(repeated(1e9, 3), repeated(1.08e9, 3), policy).verdict ==
        Confirmation::Verdict::worse);
  CHECK(confirm(repeated(1e9, 3), repeated(.9e9, 3), policy).verdict ==
        Confirmation::Verdict::better);
  CHECK(confirm(repeated(1e9, 3), repeated(5e9, 3), policy).verdict ==
        Confirmation::Verdict::worse);
}

TEST_CASE("the change of a metric with a slope is not judged by its ratio") {
  DetectionPolicy policy;
  policy.repeatability = Repeatability::slope;
  CHECK(confirm(repeated(-3, 5), repeated(0, 5), policy).verdict ==
        Confirmation::Verdict::inconclusive);
}

TEST_CASE("a change below the least one is none, whatever its ratio") {
  DetectionPolicy policy;
  policy.repeatability = Repeatability::steady;
  const std::vector<double> levels = {1.00, 1.01, .99, 1.00}, tonight = repeated(1.3, 5);
  CHECK(screen(levels, tonight, policy).verdict == Screen::Verdict::suspect_worse);
  CHECK(confirm(repeated(1, 10), repeated(1.3, 10), policy).verdict ==
        Confirmation::Verdict::worse);
  policy.least_change = .31;
  CHECK(screen(levels, tonight, policy).verdict == Screen::Verdict::same);
  const auto out = confirm(repeated(1, 10), repeated(1.3, 10), policy);
  CHECK(out.verdict == Confirmation::Verdict::same);
  CHECK_THAT(out.rule, Catch::Contains("by less than the least change"));
  std::vector<double> creeping = repeated(1.3, 10);
  for (int i = 0; i < 20; ++i) creeping.push_back(1 + .001 * i);
  CHECK_FALSE(creep(creeping, policy));
  policy.least_change = .2;
  CHECK(creep(creeping, policy));
}

TEST_CASE("a leak is judged against its least change, from zero and from a leak") {
  DetectionPolicy policy;
  policy.repeatability = Repeatability::slope;
  policy.least_change = 64 << 10;
  const std::vector<double> none = {0, 1200, -900, 300, 0}, leak = {70e3, 69e3, 71e3, 70e3, 70e3};
  CHECK(judged_value(0, policy) == 1);
  CHECK(judged_value(64 << 10, policy) == Approx(1.07));
  CHECK(judged_value(-1e9, policy) > 0);
  CHECK(screen(none, none, policy).verdict == Screen::Verdict::same);
  const Screen found = screen(none, leak, policy);
  CHECK(found.verdict == Screen::Verdict::suspect_worse);
  CHECK((found.level == 70e3 && found.change == Approx(.0747).epsilon(.01)));
  CHECK(confirm(none, leak, policy).verdict == Confirmation::Verdict::worse);
  CHECK(confirm(leak, none, policy).verdict != Confirmation::Verdict::worse);
  // The same growth does not count any more once the leak is ten times as large.
  const std::vector<double> large = repeated(700e3, 5), larger = repeated(770e3, 5);
  CHECK(confirm(large, larger, policy).verdict == Confirmation::Verdict::same);
  CHECK(confirm(large, repeated(900e3, 5), policy).verdict == Confirmation::Verdict::worse);
}

TEST_CASE("a slope is judged by the difference of its locations") {
  using Verdict = Confirmation::Verdict;
  const std::vector<double> healthy = {0, 1600, 51000, 0, 400},
                            grown = {51000, 34000, 1500, 50000, 51000};
  const double least = 65536;
  CHECK(judge_difference(healthy, grown, least).verdict == Verdict::same);
  const auto leak = judge_difference(healthy, repeated(327680, 5), least);
  CHECK(leak.verdict == Verdict::worse);
  CHECK(leak.difference.value == Approx(327280));
  CHECK(judge_difference(repeated(327680, 5), healthy, least).verdict == Verdict::better);
  CHECK(judge_difference(repeated(0, 4), repeated(327680, 4), least).verdict ==
        Verdict::inconclusive);
  const std::vector<double> scattered = {0, 70000, 140000, 0, 200000};
  CHECK(judge_difference(healthy, scattered, least).verdict == Verdict::inconclusive);
}

TEST_CASE("a few scattered runs, and none to come, say worse only when all of them do") {
  const std::vector<double> control = {1, 1.3, 1.1, 1.5, 1.2};
  const std::vector<double> most = {1.45, 2.4, 2.2, 1.9, 2.1}, all = {1.7, 2.4, 2.2, 1.9, 2.1};
  CHECK(confirm(control, most, {}, RunsToCome::none).verdict ==
        Confirmation::Verdict::inconclusive);
  CHECK(confirm(control, all, {}, RunsToCome::none).verdict == Confirmation::Verdict::worse);
}

TEST_CASE("unchanged builds are never confirmed as worse, and +12 % nearly always") {
  for (const double cv : {.01, .03, .05, .10}) {
    int alarms = 0, seen = 0;
    const int nights = 60;
    for (int i = 0; i < nights; ++i) {
      const auto seed = static_cast<std::uint64_t>(1000 * i) + static_cast<std::uint64_t>(cv * 100);
      alarms += Night(cv, 0, seed).judge({}).verdict == Confirmation::Verdict::worse;
      seen += Night(cv, .12, seed + 500).judge({}).verdict == Confirmation::Verdict::worse;
    }
    INFO("cv " << cv);
    CHECK(alarms == 0);
    CHECK(seen >= (cv < .1 ? 59 : 52));
  }
}

TEST_CASE("values that are not positive are refused") {
  CHECK_THROWS_AS(confirm(repeated(0, 5), repeated(1, 5), {}), std::invalid_argument);
  CHECK_THROWS_AS(screen(repeated(1, 3), repeated(-1, 5), {}), std::invalid_argument);
}
