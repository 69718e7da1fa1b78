#include "bisect/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "bisect/rank_tests.hpp"

using namespace nightjar::bisect;

namespace {

// Depression scores, Hollander and Wolfe, Nonparametric Statistical Methods, table 3.1 (before -
// after).
const std::vector<double> depression = {.952, -.147, 1.022, .430, .620, .590, .490, -.080, .010};
// Permeability of membranes, the same book, table 4.1.
const std::vector<double> at_term = {.80, .83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, .73, 1.46};
const std::vector<double> earlier = {1.15, .88, .90, .74, 1.21};

double normal(std::mt19937_64& random) {
  const double u = (static_cast<double>(random() >> 11) + .5) * 0x1p-53;
  const double v = static_cast<double>(random() >> 11) * 0x1p-53;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
}

std::vector<double> sample(std::mt19937_64& random, int n, double location, double sd) {
  std::vector<double> out;
  for (int i = 0; i < n; ++i) out.push_back(std::exp(location + sd * normal(random)));
  return out;
}

}  // namespace

TEST_CASE("median and robust sd of known values") {
  CHECK(median(std::vector{3., 1., 2.}) == 2);
  CHECK(median(std::vector{4., 1., 2., 3.}) == 2.5);
  CHECK(robust_sd(std::vector{1., 2., 3., 4., 100.}) == Approx(1.4826));
  CHECK(robust_sd(std::vector{7.}) == 0);
}

TEST_CASE("Hodges-Lehmann agrees with the textbook's worked example") {
  CHECK(hodges_lehmann(depression) == Approx(.46));
  const auto interval = hodges_lehmann_interval(depression, .95);
  CHECK(interval.low == Approx(.010));
  CHECK(interval.high == Approx(.786));
}

TEST_CASE("critical values agree with published tables") {
  // Each is one above the largest statistic with a one-sided p of at most .025.
  CHECK(signed_rank_bound(6, .95) == 1);
  CHECK(signed_rank_bound(10, .95) == 9);
  CHECK(signed_rank_bound(20, .95) == 53);
  CHECK(mann_whitney_bound(5, 5, .95) == 3);
  CHECK(mann_whitney_bound(10, 10, .95) == 24);
  CHECK(mann_whitney_bound(8, 20, .95) == 42);
  CHECK(mann_whitney_bound(20, 20, .95) == 128);
}

TEST_CASE("Mann-Whitney p agrees with the textbook and with brute force over all arrangements") {
  CHECK(mann_whitney_p(at_term, earlier) == Approx(.2544).margin(5e-5));
  const std::vector<double> a = {1.2, 3.4, 2.2, 5.0}, b = {2.5, 6.1, 7.3, 4.4, 8.8};
  std::vector<double> all(a);
  all.insert(all.end(), b.begin(), b.end());
  auto u_of = [&](unsigned chosen) {
    int u = 0;
    for (unsigned i = 0; i < 9; ++i) {
      for (unsigned j = 0; j < 9; ++j) {
        if (!(chosen >> i & 1) && (chosen >> j & 1) && all[j] > all[i]) ++u;
      }
    }
    return u;
  };
  const int observed = u_of(0b111110000);
  int extreme = 0, arrangements = 0;
  for (unsigned chosen = 0; chosen < 512; ++chosen) {
    if (__builtin_popcount(chosen) != 5) continue;
    ++arrangements;
    if (std::abs(u_of(chosen) - 10) >= std::abs(observed - 10)) ++extreme;
  }
  CHECK(mann_whitney_p(a, b) == Approx(static_cast<double>(extreme) / arrangements));
}

TEST_CASE("the signed-rank distribution agrees with brute force over all signs") {
  std::vector<int> counts(46);
  for (unsigned signs = 0; signs < 512; ++signs) {
    int w = 0;
    for (int i = 0; i < 9; ++i) w += (signs >> i & 1) ? i + 1 : 0;
    ++counts[static_cast<std::size_t>(w)];
  }
  int sum = counts[0];
  for (int w = 1; w <= 45; ++w) {
    const int before = sum;
    sum += counts[static_cast<std::size_t>(w)];
    for (const double tail : {(before + .01) / 512, (sum - .01) / 512})
      CHECK(signed_rank_bound(9, 1 - 2 * tail) == w);
  }
}

TEST_CASE("the shift is the median of pairwise ratios and its bounds are ordered pairs") {
  std::vector<double> ratios;
  for (double x : at_term) {
    for (double y : earlier) ratios.push_back(y / x);
  }
  std::sort(ratios.begin(), ratios.end());
  const auto change = shift(at_term, earlier, .95);
  CHECK(change.ratio == Approx(std::sqrt(ratios[24] * ratios[25])));
  // 10 against 5: the table's critical value is 8, so the 9th smallest and largest.
  CHECK(change.low == Approx(ratios[8]));
  CHECK(change.high == Approx(ratios[41]));
}

TEST_CASE("equal values give a ratio of one without width and no evidence") {
  const std::vector<double> same(7, 4096.0);
  const auto change = shift(same, same, .95);
  CHECK(change.ratio == 1);
  CHECK(change.low == 1);
  CHECK(change.high == 1);
  CHECK(mann_whitney_p(same, same) == 1);
  CHECK(mann_whitney_z(same, same) == 0);
}

TEST_CASE("ties are corrected for: z and p against values worked out by hand") {
  const std::vector<double> a = {1, 2, 2, 3}, b = {2, 3, 4, 5};
  // U = 2 + 3.5 + 4 + 4 = 13.5, mean 8, tie groups of 3 and 2: sd^2 = 16/12 * (9 - 30/56).
  const double sd = std::sqrt(16.0 / 12 * (9 - 30.0 / 56));
  CHECK(mann_whitney_z(a, b) == Approx(5.5 / sd));
}

TEST_CASE("with ties p is the share of all ways to choose one side's midranks") {
  const std::vector<double> a = {1, 2, 2, 3}, b = {2, 3, 4, 5, 5};
  const std::vector<double> ranks = {1, 3, 3, 3, 5.5, 5.5, 7, 8.5, 8.5};
  int extreme = 0, all = 0;
  for (unsigned chosen = 0; chosen < 1u << ranks.size(); ++chosen) {
    double sum = 0;
    int size = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i)
      if (chosen >> i & 1) {
        sum += ranks[i];
        ++size;
      }
    if (size != 4) continue;
    ++all;
    extreme += std::abs(sum - 20) >= std::abs(1 + 3 + 3 + 5.5 - 20);
  }
  CHECK(all == 126);
  CHECK(mann_whitney_p(a, b) == Approx(static_cast<double>(extreme) / all));
  CHECK(mann_whitney_p(b, a) == Approx(static_cast<double>(extreme) / all));
  CHECK(mann_whitney_p(std::vector<double>(8, 1), std::vector<double>(8, 2)) == Approx(2. / 12870));
}

TEST_CASE("intervals cover at their nominal rate") {
  std::mt19937_64 random(20260820);
  for (const int n : {6, 10, 30}) {
    int location = 0, ratio = 0;
    const int repetitions = 1500;
    for (int i = 0; i < repetitions; ++i) {
      const auto a = sample(random, n, 0, .05), b = sample(random, n, std::log(1.07), .05);
      const auto change = shift(a, b, .95);
      ratio += change.low <= 1.07 && 1.07 <= change.high;
      std::vector<double> logs;
      for (double x : a) logs.push_back(std::log(x));
      const auto interval = hodges_lehmann_interval(logs, .95);
      location += interval.low <= 0 && 0 <= interval.high;
    }
    INFO("n = " << n);
    // Three standard errors of 1,500 repetitions: .017; small n is conservative.
    CHECK(location >= .933 * repetitions);
    CHECK(location <= .985 * repetitions);
    CHECK(ratio >= .933 * repetitions);
    CHECK(ratio <= .985 * repetitions);
  }
}

TEST_CASE("large samples are thinned and stay right") {
  std::mt19937_64 random(7);
  const auto many = sample(random, 20000, 0, .05);
  CHECK(hodges_lehmann(many) == Approx(1).epsilon(.002));
  const auto change = shift(many, sample(random, 20000, std::log(1.07), .05), .95);
  CHECK(change.ratio == Approx(1.07).epsilon(.003));
}

TEST_CASE("what is no number is refused") {
  const std::vector<double> none, bad = {1, std::numeric_limits<double>::quiet_NaN()},
                                  zero = {0, 1};
  const std::vector<double> fine = {1, 2};
  CHECK_THROWS_AS(median(none), std::invalid_argument);
  CHECK_THROWS_AS(hodges_lehmann(bad), std::invalid_argument);
  CHECK_THROWS_AS(shift(fine, zero, .95), std::invalid_argument);
  CHECK_THROWS_AS(shift(fine, fine, 1.5), std::invalid_argument);
  CHECK_THROWS_AS(mann_whitney_p(fine, none), std::invalid_argument);
}
