#include "bisect/against_first.hpp"

#include <cmath>
#include <random>

#include <catch2/catch.hpp>

using namespace nightjar::bisect;

TEST_CASE("Groups are held against the first, and what cannot be is left out") {
  const std::vector<std::vector<double>> groups{{1, 1.01, .99}, {}, {1.2}, {1.21, 1.19}};
  const auto ratios = against_first(groups, .95);
  REQUIRE(ratios.size() == 4);
  CHECK_FALSE(ratios[0]);
  CHECK_FALSE(ratios[1]);
  CHECK(ratios[2]->ratio == Approx(1.2));
  CHECK(ratios[2]->low < 1.2);
  CHECK(ratios[2]->high > 1.2);
  // Two runs say more than one.
  CHECK(ratios[3]->high / ratios[3]->low < ratios[2]->high / ratios[2]->low);
}

TEST_CASE("Without the first group, with a zero, or without repeated runs nothing is said") {
  for (const auto& groups : std::vector<std::vector<std::vector<double>>>{
           {}, {{}, {1, 1.1, 1.2}}, {{1, 1.1, 1}, {0, 1}}, {{1}, {1.1}, {1.2}}, {{1, 1.1}, {1.2}}})
    for (const auto& ratio : against_first(groups, .95)) CHECK_FALSE(ratio);
}

TEST_CASE("The interval of a single run against a few holds the truth in 95 of 100 cases") {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, .02);
  int held = 0;
  constexpr int cases = 2000;
  for (int i = 0; i < cases; ++i) {
    const double truth[] = {1, 1.1, 1.1, .9};
    const int runs[] = {3, 1, 2, 4};
    std::vector<std::vector<double>> groups(4);
    for (std::size_t g = 0; g < 4; ++g)
      for (int run = 0; run < runs[g]; ++run)
        groups[g].push_back(truth[g] * std::exp(noise(random)));
    const auto ratio = against_first(groups, .95)[1];
    held += ratio->low <= 1.1 && 1.1 <= ratio->high;
  }
  CHECK(held > cases * .935);
  CHECK(held < cases * .965);
}
