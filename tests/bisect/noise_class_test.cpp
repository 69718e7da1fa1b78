#include "bisect/noise_class.hpp"

#include <cmath>
#include <random>

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::bisect;

namespace {

// `builds` builds of `runs` runs with this sd; builds differ by more, which is no noise.
std::vector<std::vector<double>> history(int builds, int runs, double sd, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> out;
  for (int b = 0; b < builds; ++b) {
    const double level = std::exp(.2 * normal(random));
    out.emplace_back();
    for (int i = 0; i < runs; ++i) out.back().push_back(level * std::exp(sd * normal(random)));
  }
  return out;
}

}  // namespace

TEST_CASE("noise is that of runs of one build, whatever the builds do") {
  for (const double sd : {.005, .03, .06, .12})
    CHECK(series_noise(history(600, 3, sd)).sd == Approx(sd).epsilon(.15));
  CHECK(series_noise(history(40, 5, .008)).kind == NoiseClass::quiet);
  CHECK(series_noise(history(40, 5, .025)).kind == NoiseClass::ordinary);
  CHECK(series_noise(history(40, 5, .055)).kind == NoiseClass::noisy);
  CHECK(series_noise(history(40, 5, .12)).kind == NoiseClass::wild);
}

TEST_CASE("a single outlier in each build does not make a series noisy") {
  auto builds = history(20, 7, .008);
  for (auto& runs : builds) runs.front() *= 1.3;
  CHECK(series_noise(builds).kind == NoiseClass::quiet);
}

TEST_CASE("a short history is no history") {
  CHECK(series_noise({}).kind == NoiseClass::unknown);
  CHECK(series_noise(history(2, 5, .02)).kind == NoiseClass::unknown);
  CHECK(series_noise(history(30, 1, .02)).kind == NoiseClass::unknown);
}

TEST_CASE("runs and threshold follow the class") {
  CHECK(runs_a_night(NoiseClass::unknown, 5) == 5);
  CHECK(runs_a_night(NoiseClass::quiet, 5) == 3);
  CHECK(runs_a_night(NoiseClass::quiet, 2) == 2);
  CHECK(runs_a_night(NoiseClass::noisy, 5) == 10);
  CHECK(runs_a_night(NoiseClass::wild, 5) == 20);
  CHECK(adapted({}, {NoiseClass::noisy, .06}).threshold == .07);
  CHECK(adapted({}, {NoiseClass::wild, .12}).threshold == .12);
}

TEST_CASE("a creep is seen when it adds up, a step by the fast path only") {
  std::vector<double> levels;  // newest first
  for (int night = 0; night < 30; ++night) levels.push_back(std::pow(1.004, 29 - night));
  const auto found = creep(levels, {});
  REQUIRE(found);
  CHECK(found->change == Approx(std::pow(1.004, 22) - 1).epsilon(.05));
  CHECK(found->reference == 22);
  CHECK_FALSE(creep(std::vector<double>(40, 1.0), {}));
  CHECK_FALSE(creep(std::vector<double>(levels.begin(), levels.begin() + 16), {}));
  std::reverse(levels.begin(), levels.end());
  CHECK_FALSE(creep(levels, {}));  // it gets better
  DetectionPolicy higher;
  higher.direction = Direction::higher_is_better;
  CHECK(creep(levels, higher));
}

TEST_CASE("a restless series does not creep") {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  int found = 0;
  for (int series = 0; series < 200; ++series) {
    std::vector<double> levels;
    for (int night = 0; night < 40; ++night) levels.push_back(std::exp(.02 * normal(random)));
    found += creep(levels, {}).has_value();
  }
  CHECK(found == 0);
}
