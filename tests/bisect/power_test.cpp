#include "bisect/power.hpp"

#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

#include <catch2/catch.hpp>

using namespace nightjar::bisect;

namespace {

constexpr double usual_confidence = .95, usual_power = .9;

std::vector<double> runs(int count, double level, double noise, std::mt19937_64& random) {
  std::lognormal_distribution<double> scatter(std::log(level), noise);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(scatter(random));
  return values;
}

// How often a change as small as the one that two alike builds' runs promise to show is shown by as
// many other runs.
double share_seen(int before, int after, double noise, int trials) {
  std::mt19937_64 random(17);
  int seen = 0;
  for (int i = 0; i < trials; ++i) {
    const Ratio none =
        shift(runs(before, 1, noise, random), runs(after, 1, noise, random), usual_confidence);
    const double smallest = smallest_seen(none, before, after, usual_confidence, usual_power);
    seen += shift(runs(before, 1, noise, random), runs(after, smallest, noise, random),
                  usual_confidence)
                .low > 1;
  }
  return static_cast<double>(seen) / trials;
}

}  // namespace

TEST_CASE("the smallest change that is said to be seen is seen nine times out of ten") {
  for (const auto& [before, after, noise] :
       {std::tuple{5, 5, .02}, {10, 10, .01}, {10, 20, .03}, {29, 29, .01}, {40, 40, .1}}) {
    CAPTURE(before, after, noise);
    CHECK(share_seen(before, after, noise, 2000) == Approx(usual_power).margin(.035));
  }
}

TEST_CASE(
    "the smallest change that is seen shrinks with the root of the runs and grows with the noise") {
  std::mt19937_64 random(3);
  const auto smallest = [&](int count, double noise) {
    const auto alike =
        shift(runs(count, 1, noise, random), runs(count, 1, noise, random), usual_confidence);
    return std::log(smallest_seen(alike, count, count, usual_confidence, usual_power));
  };
  CHECK(smallest(400, .01) == Approx(smallest(100, .01) / 2).epsilon(.2));
  CHECK(smallest(100, .04) == Approx(smallest(100, .01) * 4).epsilon(.2));
}

TEST_CASE("where runs never differ any change would be seen") {
  const std::vector<double> alike(5, 4096);
  CHECK(smallest_seen(shift(alike, alike, usual_confidence), 5, 5, usual_confidence, usual_power) ==
        1);
  CHECK_THROWS_AS(smallest_seen({}, 1, 5, usual_confidence, usual_power), std::invalid_argument);
}
