#include "bisect/fleet.hpp"

#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/search_world.hpp"

using namespace nightjar;
using namespace nightjar::bisect;

namespace {

using PairRuns = std::vector<double>;

PairRuns same_runs(double value, int times) {
  return PairRuns(static_cast<std::size_t>(times), value);
}

// `bad` is worse than `good` in every pair.
std::pair<PairRuns, PairRuns> separated(int runs) {
  std::pair<PairRuns, PairRuns> out;
  for (int i = 0; i < runs; ++i) {
    out.first.push_back(1 + .001 * i);
    out.second.push_back(1.2 + .001 * i);
  }
  return out;
}

double evidence_of(const std::pair<PairRuns, PairRuns>& sides, const DetectionPolicy& policy = {}) {
  return evidence_of_worse(sides.first, sides.second, .035, policy);
}

// Both sides alike, but that `bad` is slower by the factor. `heavy`: Cauchy, and runs in a row have
// a disturbance in common.
class QuietPair {
 public:
  QuietPair(double factor, bool heavy, unsigned seed)
      : factor_(factor), heavy_(heavy), random_(seed) {}

  std::pair<PairRuns, PairRuns> measure(int runs) {
    std::pair<PairRuns, PairRuns> out;
    for (int i = 0; i < runs; ++i) {
      if (heavy_) shared_ = .7 * shared_ + .02 * normal_(random_);
      out.first.push_back(run(1));
      out.second.push_back(run(factor_));
    }
    return out;
  }

 private:
  double run(double level) {
    const double noise = heavy_ ? .01 * cauchy_(random_) : .03 * normal_(random_);
    return level * std::exp(std::clamp(shared_ + noise, -5., 5.));
  }
  double factor_;
  bool heavy_;
  double shared_ = 0;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  std::cauchy_distribution<double> cauchy_;
};

struct MeanEvidence {
  double mean = 0, error = 0;
};
MeanEvidence mean_evidence(double factor, bool heavy, int runs, int cases) {
  QuietPair world(factor, heavy, 11);
  double sum = 0, squares = 0;
  for (int i = 0; i < cases; ++i) {
    const double e = evidence_of(world.measure(runs));
    sum += e;
    squares += e * e;
  }
  const double mean = sum / cases;
  return {mean, std::sqrt((squares / cases - mean * mean) / cases)};
}

}  // namespace

TEST_CASE("evidence of two fully separated runs a side is that of the Gaussian binomials") {
  // By hand for three a side: C(6, 3) q^9 / ((1 + q^3) (1 + q + q^2 + q^3 + q^4) (1 + q^2 ...)).
  DetectionPolicy steady;
  steady.repeatability = Repeatability::steady;
  double expected = 0;
  for (const double effect : {.15, .3, .6, 1.2, 2.4}) {
    const double q = std::exp(12 * effect / 7);
    double mean = 0;  // of q^U over the 20 orders, by counting subsets of six ranks
    for (int a = 0; a < 6; ++a)
      for (int b = a + 1; b < 6; ++b)
        for (int c = b + 1; c < 6; ++c) mean += std::pow(q, a + b + c - 3) / 20;
    expected += std::pow(q, 9) / mean / 5;
  }
  CHECK(evidence_of(separated(3), steady) == Approx(expected));
  CHECK(evidence_of(separated(4), steady) == Approx(expected));  // the next block is not full
  CHECK(evidence_of(separated(2), steady) == Approx(1));
  CHECK(evidence_of(separated(5)) < 252);  // C(10, 5)
  CHECK(evidence_of(separated(5)) > 60);
}

TEST_CASE("the mean evidence of nothing is one, and below the margin it is less") {
  for (const bool heavy : {false, true})
    for (const int runs : {5, 10}) {
      INFO("heavy " << heavy << ", runs " << runs);
      const MeanEvidence at_margin = mean_evidence(1.035, heavy, runs, 40'000);
      CHECK(at_margin.mean < 1 + 4 * at_margin.error);
      CHECK(mean_evidence(1, heavy, runs, 4'000).mean < .9);
    }
  const MeanEvidence exact = mean_evidence(1.035, false, 5, 40'000);
  CHECK(exact.mean > 1 - 4 * exact.error);
  CHECK(exact.error < .05);
}

TEST_CASE("ties say no more than values that can be told apart") {
  double sum = 0;
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) {
    PairRuns good, bad;
    for (int run = 0; run < 5; ++run) {
      good.push_back(random() % 2 == 0 ? 1 : 2);
      bad.push_back(random() % 2 == 0 ? 1 : 2);
    }
    sum += evidence_of_worse(good, bad, 0, {});
  }
  CHECK(sum / 20'000 < 1.03);
  CHECK(evidence_of_worse(same_runs(1, 5), same_runs(1, 5), 0, {}) < 1);
}

TEST_CASE("looking after every rung lifts evidence over x at most once in x") {
  QuietPair world(1.035, false, 5);
  const int cases = 6'000;
  int reached = 0;
  for (int i = 0; i < cases; ++i) {
    const auto [good, bad] = world.measure(40);
    for (const std::size_t look : {5u, 10u, 20u, 40u})
      if (evidence_of_worse(std::span(good).first(look), std::span(bad).first(look), .035, {}) >=
          10) {
        ++reached;
        break;
      }
  }
  CHECK(reached < cases / 10 + 4 * std::sqrt(cases / 10));
  CHECK(reached > cases / 100);  // or the test could not fail
}

TEST_CASE("where higher is better, lower values are evidence") {
  DetectionPolicy policy;
  policy.direction = Direction::higher_is_better;
  const auto [low, high] = separated(5);
  CHECK(evidence_of_worse(high, low, .035, policy) == Approx(evidence_of({low, high})));
  CHECK(evidence_of_worse(low, high, .035, policy) < .1);
}

TEST_CASE("the bar rises with suspects and falls with what is confirmed") {
  CHECK(NightBar{}.evidence() == Approx(30));
  CHECK(NightBar{1. / 30, 4'000, 0}.evidence() == Approx(120'000));
  CHECK(NightBar{1. / 30, 4'000, 3}.evidence() == Approx(30'000));
}

TEST_CASE("a finding below the bar is measured further, and in the end nobody is told") {
  const auto [good, bad] = separated(5);
  CHECK(confirm(good, bad, {}, NightBar{}).confirmation.verdict == ConfirmationVerdict::worse);
  const auto more = confirm(good, bad, {}, NightBar{1. / 30, 1'000, 0});
  CHECK(more.confirmation.verdict == ConfirmationVerdict::more);
  CHECK(more.confirmation.runs_a_side == 10);
  CHECK(more.confirmation.rule.find("1000 suspects ask for 3e+04") != std::string::npos);
  const auto [all_good, all_bad] = separated(120);
  CHECK(confirm(all_good, all_bad, {}, NightBar{1. / 30, 50'000, 0}).confirmation.verdict ==
        ConfirmationVerdict::worse);
  DetectionPolicy steady;
  steady.repeatability = Repeatability::steady;
  const auto [ten_good, ten_bad] = separated(10);
  const auto twenty = confirm(ten_good, ten_bad, steady, NightBar{1. / 30, 50'000, 0});
  CHECK(twenty.confirmation.verdict == ConfirmationVerdict::more);
  CHECK(twenty.confirmation.runs_a_side == 20);
  const auto [forty_good, forty_bad] = separated(40);
  CHECK(confirm(forty_good, forty_bad, steady, NightBar{1. / 30, 50'000, 0}).confirmation.verdict ==
        ConfirmationVerdict::worse);
  CHECK(confirm(forty_good, forty_bad, steady, NightBar{1e-30, 50'000, 0}).confirmation.verdict ==
        ConfirmationVerdict::inconclusive);
}

// Suspects that share all their noise: 20 quiet ones a night, at the margin itself.
TEST_CASE("of 600 nights of suspects that share their noise at most a share has a false finding") {
  QuietPair world(1.035, false, 23);
  DetectionPolicy policy;
  int nights_with_one = 0;
  for (int night = 0; night < 600; ++night) {
    NightBar bar{.5, 20, 0};
    const auto shared = world.measure(20);
    for (int suspect = 0; suspect < bar.suspects; ++suspect) {
      auto [good, bad] = world.measure(20);
      for (std::size_t i = 0; suspect % 2 == 0 && i < good.size(); ++i) {
        good[i] = shared.first[i];
        bad[i] = shared.second[i];
      }
      if (evidence_of_worse(good, bad, .035, policy) >= bar.evidence()) ++bar.confirmed;
    }
    nights_with_one += bar.confirmed > 0;
  }
  CHECK(nights_with_one <= 300);
  CHECK(nights_with_one >= 1);  // or the test could not fail
}

TEST_CASE("+10 % at CV 3 % reaches the bar of four thousand suspects") {
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    test::WorldOptions options;
    options.commits = 1;
    options.planted = {{1, .10}};
    test::World world(options, seed);
    PairRuns good, bad;
    FleetConfirmation said;
    for (int want = 5; said.confirmation.verdict == ConfirmationVerdict::more;
         want = said.confirmation.runs_a_side) {
      world.new_session();
      while (static_cast<int>(good.size()) < want) {
        good.push_back(std::exp(world.measure(0)));
        bad.push_back(std::exp(world.measure(1)));
      }
      said = confirm(good, bad, {}, NightBar{1. / 30, 4'000, 0});
    }
    seen += said.confirmation.verdict == ConfirmationVerdict::worse;
  }
  CHECK(seen >= 199);
}
