#include "bisect/calibration.hpp"

#include <cmath>
#include <random>
#include <stdexcept>

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::bisect;

namespace {

// Series with `runs` runs a night, whose newest build is worse by `change`.
class Nights {
 public:
  Nights(double sd, double between, int runs, DetectionPolicy policy)
      : sd_(sd), between_(between), runs_(static_cast<std::size_t>(runs)), policy_(policy) {}

  // The share of 400 series that is flagged on its first night.
  double seen(double change) {
    int seen = 0;
    for (int series = 0; series < 400; ++series) seen += is_flagged(1 + change);
    return seen / 400.;
  }

 private:
  std::vector<double> measure(double level, std::size_t runs) {
    std::vector<double> values(runs);
    for (double& value : values) value = level * std::exp(sd_ * normal_(random_));
    return values;
  }
  bool is_flagged(double level) {
    std::vector<double> levels;
    const auto tonight = [&] { return std::exp(between_ * normal_(random_)); };
    for (int night = 0; night < 14; ++night)
      levels.push_back(hodges_lehmann(measure(tonight(), runs_)));
    if (screen(levels, measure(level * tonight(), runs_), policy_).verdict !=
        ScreenVerdict::suspect_worse)
      return false;
    std::vector<double> good, bad;
    for (std::size_t runs = 1;;) {
      const auto more_good = measure(1, runs - good.size());
      const auto more_bad = measure(level, runs - bad.size());
      good.insert(good.end(), more_good.begin(), more_good.end());
      bad.insert(bad.end(), more_bad.begin(), more_bad.end());
      const Confirmation said = confirm(good, bad, policy_);
      if (said.verdict != ConfirmationVerdict::more)
        return said.verdict == ConfirmationVerdict::worse;
      runs = static_cast<std::size_t>(said.runs_a_side);
    }
  }

  double sd_, between_;  // of runs, and of nights besides
  std::size_t runs_;
  DetectionPolicy policy_;
  std::mt19937_64 random_{3};
  std::normal_distribution<double> normal_;
};

}  // namespace

TEST_CASE("Clopper and Pearson's intervals agree with published values") {
  // 0 of 10: 1 - .025^(1/10); 5 of 10 and 1 of 20 as in tables of exact binomial limits.
  CHECK(binomial_interval(0, 10, .95).low == 0);
  CHECK(binomial_interval(0, 10, .95).high == Approx(.3085).margin(.0001));
  CHECK(binomial_interval(5, 10, .95).low == Approx(.1871).margin(.0001));
  CHECK(binomial_interval(5, 10, .95).high == Approx(.8129).margin(.0001));
  CHECK(binomial_interval(1, 20, .95).low == Approx(.0013).margin(.0001));
  CHECK(binomial_interval(1, 20, .95).high == Approx(.2487).margin(.0001));
  CHECK(binomial_interval(10, 10, .95).high == 1);
  CHECK(binomial_interval(0, 0, .95).low == 0);
  CHECK(binomial_interval(0, 0, .95).high == 1);
  CHECK_THROWS_AS(binomial_interval(3, 2, .95), std::invalid_argument);
}

TEST_CASE("what can be seen grows with the noise and is never under the threshold") {
  double last = .07;
  for (const double sd : {.005, .02, .05, .10}) {
    const double seen = smallest_seen({sd, 0, 5}, {});
    CHECK(seen > last);
    last = seen;
  }
  CHECK(smallest_seen({.005, 0, 5}, {}) < .075);
  CHECK(smallest_seen({.10, 0, 20}, {}) < smallest_seen({.10, 0, 5}, {}));
}

TEST_CASE("a change of the computed size is seen about as often as it says by the real policy") {
  DetectionPolicy steady;
  steady.repeatability = Repeatability::steady;
  for (const auto& [sd, between, runs, policy] : {std::tuple{.02, 0., 5, DetectionPolicy{}},
                                                  {.04, 0., 5, {}},
                                                  {.06, 0., 10, {}},
                                                  {.02, 0., 5, steady},
                                                  {.02, .03, 5, {}},
                                                  {.02, .05, 5, {}}}) {
    const double nights = std::hypot(between, sd / std::sqrt(runs));
    const Scatter scatter{sd, between > 0 ? nights : 0, runs};
    const auto told = with_smallest_shown(policy, scatter);
    const double change = smallest_seen(scatter, policy);
    INFO(sd << ", " << between << ", " << runs << " runs: +" << 100 * change << " %");
    CHECK(Nights(sd, between, runs, told).seen(change) == Approx(.9).margin(.07));
  }
}

TEST_CASE("nights that scatter raise what can be seen, and beyond the threshold that is said") {
  const std::vector<double> levels{1, 1.05, .95, 1.08, .92, 1, 1.05, .96};
  CHECK(nights_sd(std::vector{1., 2.}, {}) == 0);
  CHECK(nights_sd(levels, {}) == Approx(.07).margin(.02));
  const Scatter quiet{.01, .01, 5}, shared{.01, nights_sd(levels, {}), 5};
  CHECK(with_smallest_shown({}, quiet).smallest_shown == 0);
  CHECK(with_smallest_shown({}, shared).smallest_shown == smallest_seen(shared, {}));
  CHECK_FALSE(cannot_show(smallest_seen(quiet, {}), .07));
  CHECK(cannot_show(smallest_seen(shared, {}), .07));
}

TEST_CASE("the interval of a typical value is by ranks") {
  std::vector<double> values;
  for (int i = 20; i > 0; --i) values.push_back(i);
  const Typical twenty = typical(values);  // ranks 6 and 15, as in tables of the sign test
  CHECK(twenty.values == 20);
  CHECK(twenty.median == 10.5);
  CHECK(twenty.low == 6);
  CHECK(twenty.high == 15);
  const Typical three = typical({3, 1, 2});
  CHECK(three.median == 2);
  CHECK(three.low == 1);
  CHECK(three.high == 3);
  CHECK_THROWS_AS(typical({}), std::invalid_argument);
}
