#include "bisect/attribution.hpp"

#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

namespace nightjar::bisect {
namespace {

std::vector<double> runs(std::mt19937_64& random, double at, double cv, int count) {
  std::vector<double> values;
  std::normal_distribution<double> noise(0, cv);
  for (int i = 0; i < count; ++i) values.push_back(at * std::exp(noise(random)));
  return values;
}

// Runs of a world whose source and packages each have a factor.
struct TwoFactors {
  TwoFactors(std::uint64_t seed, double source, double environment, double cv, int count)
      : random(seed),
        good(runs(random, .01, cv, count)),
        source_only(runs(random, .01 * source, cv, count)),
        environment_only(runs(random, .01 * environment, cv, count)),
        bad(runs(random, .01 * source * environment, cv, count)) {}
  Cells cells() const { return {good, source_only, environment_only, bad}; }
  std::mt19937_64 random;
  std::vector<double> good, source_only, environment_only, bad;
};

int said(Cause cause, double source, double environment, double cv, int count) {
  int times = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    times +=
        attribute(TwoFactors(seed, source, environment, cv, count).cells(), {}).attribution.cause ==
        cause;
  return times;
}

}  // namespace

TEST_CASE("what the source did is told from what the packages did") {
  CHECK(said(Cause::source, 1.2, 1, .01, 10) >= 198);
  CHECK(said(Cause::environment, 1, 1.2, .01, 10) >= 198);
  CHECK(said(Cause::both, 1.1, 1.1, .01, 10) >= 198);
  // Never the wrong one alone, also where the runs are few and noisy.
  CHECK(said(Cause::environment, 1.2, 1, .05, 5) == 0);
  CHECK(said(Cause::source, 1, 1.2, .05, 5) == 0);
}

TEST_CASE("the parts of a change have their product, and intervals that hold the truth") {
  int held = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto verdict = attribute(TwoFactors(seed, 1.08, 1.15, .02, 10).cells(), {});
    const Part &source = verdict.attribution.source, &other = *verdict.attribution.environment;
    held += source.low <= 1.08 && 1.08 <= source.high;
    held += other.low <= 1.15 && 1.15 <= other.high;
    CHECK(source.ratio * other.ratio == Approx(1.08 * 1.15).epsilon(.05));
  }
  CHECK(held >= 740);  // .925 of 800; nominal .95
  CHECK(held <= 790);
}

TEST_CASE("a wheel is told from the source as packages are, and in words of its own") {
  const auto verdict = [](double source, double wheel) {
    return attribute(TwoFactors(7, source, wheel, .01, 10).cells(), {}, OtherFactor::wheel);
  };
  CHECK(verdict(1, 1.25).attribution.cause == Cause::wheel);
  CHECK(verdict(1, 1.25).rule == "the wheel changed it, and the source did not");
  CHECK(verdict(1.25, 1).attribution.cause == Cause::source);
  CHECK(verdict(1.25, 1).rule == "the source changed it, and the wheel did not");
  CHECK(verdict(1.2, 1.2).attribution.cause == Cause::source_and_wheel);
  CHECK(verdict(1.3, .9).attribution.cause == Cause::source);  // what is better is no cause
  CHECK(verdict(1, 1.25).attribution.wheel->ratio == Approx(1.25).epsilon(.02));
  CHECK_FALSE(verdict(1, 1.25).attribution.environment);
  CHECK_FALSE(attribute(TwoFactors(7, 1.2, 1, .01, 10).cells(), {}).attribution.wheel);
  CHECK(attribute({std::vector{1.}, {}, {}, std::vector{2.}}, {}, OtherFactor::wheel).rule ==
        "neither wheel runs with the other's Python files, so the two cannot be told apart");
}

TEST_CASE("where the source's part is clear, a search on one wheel needs to know no more") {
  std::mt19937_64 random(7);
  // The wheel's cells are noisy, so that its part could be anything from -10 to +10 %.
  const auto good = runs(random, .01, .01, 8), source = runs(random, .015, .01, 8),
             wheel = runs(random, .01, .1, 8), bad = runs(random, .015, .1, 8);
  const auto verdict = attribute({good, source, wheel, bad}, {}, OtherFactor::wheel);
  CHECK(verdict.attribution.cause == Cause::source);
  CHECK_FALSE(verdict.more);
  CHECK(verdict.rule == "the source changed it; what the wheel did is not clear");
  CHECK(attribute({good, source, wheel, bad}, {}).more);
}

TEST_CASE("where no file of the source differs, all of the change is the wheel's") {
  const TwoFactors world(7, 1, 1.25, .01, 10);
  const auto verdict = attribute_to_wheel(world.good, world.bad);
  CHECK(verdict.attribution.cause == Cause::wheel);
  CHECK(verdict.attribution.wheel->low < 1.25);
  CHECK(verdict.attribution.wheel->high > 1.25);
  CHECK(verdict.attribution.source.high == 1);
  CHECK_FALSE(verdict.more);
}

TEST_CASE("a cell that does not run is left out, and that is said") {
  const TwoFactors world(7, 1.2, 1, .01, 10);
  Cells cells = world.cells();
  cells.other = {};
  const auto verdict = attribute(cells, {});
  CHECK(verdict.attribution.cause == Cause::source);
  CHECK(verdict.rule.find("the old build does not run with the new packages") != std::string::npos);
  cells.source = {};
  CHECK(attribute(cells, {}).attribution.cause == Cause::unknown);
  CHECK_FALSE(attribute(cells, {}).more);
}

TEST_CASE("too few runs ask for more instead of naming somebody") {
  const auto verdict = attribute(TwoFactors(3, 1.06, 1.03, .1, 5).cells(), {});
  CHECK(verdict.attribution.cause == Cause::unknown);
  CHECK(verdict.more);
}

TEST_CASE("of a speed-up, less is worse") {
  DetectionPolicy policy;
  policy.direction = Direction::higher_is_better;
  const TwoFactors world(5, 1 / 1.2, 1, .01, 10);
  CHECK(attribute(world.cells(), policy).attribution.cause == Cause::source);
}

namespace {

// Runs that fail (1.25) or pass (1), five a cell. A cell that does not run is empty.
AttributionVerdict of_failures(std::optional<bool> source_fails,
                               std::optional<bool> packages_fail) {
  const auto runs = [](std::optional<bool> fail) {
    return fail ? std::vector<double>(5, *fail ? 1.25 : 1) : std::vector<double>{};
  };
  const std::vector<double> good = runs(false), bad = runs(true), source = runs(source_fails),
                            environment = runs(packages_fail);
  return attribute_failure({good, source, environment, bad}, {});
}

}  // namespace

TEST_CASE("a failure is whose mixed wheel fails, and of nobody where only both together fail") {
  const auto cause = [](std::optional<bool> source, std::optional<bool> packages) {
    return of_failures(source, packages).attribution.cause;
  };
  CHECK(cause(true, false) == Cause::source);
  CHECK(cause(false, true) == Cause::environment);
  CHECK(cause(true, true) == Cause::both);
  CHECK(cause(false, false) == Cause::unknown);
  CHECK(of_failures(false, false).rule ==
        "it fails only with the new source and the new packages together");
  CHECK_FALSE(of_failures(false, false).more);
  // With one mixed wheel that runs, what is left is the other's.
  CHECK(cause(true, {}) == Cause::source);
  CHECK(cause(false, {}) == Cause::environment);
  CHECK(cause({}, true) == Cause::environment);
  CHECK(cause({}, false) == Cause::source);
  CHECK(cause({}, {}) == Cause::unknown);
  CHECK(of_failures(true, false).of_failure);
}

}  // namespace nightjar::bisect
