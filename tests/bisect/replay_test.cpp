#include "bisect/replay.hpp"

#include <cmath>
#include <random>
#include <set>

#include <catch2/catch.hpp>

#include "bisect/reliability.hpp"

using namespace nightjar;
using namespace nightjar::bisect;

namespace {

// Runs of `sd` noise in logs, and builds whose levels differ by a tenth of it.
std::vector<std::vector<double>> recorded(double sd, int builds = 20) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> out;
  for (int build = 0; build < builds; ++build) {
    const double level = .01 * std::exp(.1 * sd * normal(random));
    out.emplace_back();
    for (int run = 0; run < 5; ++run) out.back().push_back(level * std::exp(sd * normal(random)));
  }
  return out;
}

struct Count {
  int exact = 0, innocent = 0, nobody = 0;
};

Count count(const std::vector<std::vector<double>>& builds, double planted, int cases) {
  Count out;
  for (int seed = 0; seed < cases; ++seed) {
    ReplayOptions options;
    options.planted = planted;
    options.seed = static_cast<std::uint64_t>(seed);
    switch (replay(builds, options, {}).outcome) {
      case ReplayOutcome::exact:
        ++out.exact;
        break;
      case ReplayOutcome::innocent:
        ++out.innocent;
        break;
      case ReplayOutcome::nobody:
        ++out.nobody;
        break;
    }
  }
  return out;
}

}  // namespace

TEST_CASE(
    "Replayed searches name what was planted in ordinary noise, and nobody where nothing was") {
  const Count planted = count(recorded(.02), .15, 40);
  CHECK(planted.exact >= 39);
  CHECK(planted.innocent == 0);
  const Count nothing = count(recorded(.02), 0, 40);
  CHECK(nothing.nobody == 40);
}

TEST_CASE("Of steps half as large as the noise of one run, few are named and hardly any wrongly") {
  const Count hidden = count(recorded(.3), .15, 12);
  CHECK(hidden.nobody >= 10);
  CHECK(hidden.innocent <= 1);
}

TEST_CASE("The same seed replays the same search") {
  ReplayOptions options;
  options.seed = 11;
  const auto builds = recorded(.03);
  CHECK(replay(builds, options, {}).runs == replay(builds, options, {}).runs);
}

TEST_CASE("Too few recorded runs cannot be replayed") {
  const auto builds = recorded(.02, 5);
  CHECK_FALSE(can_replay(builds));
  CHECK_THROWS_AS(replay(builds, {}, {}), std::invalid_argument);
}

TEST_CASE("A replay tells how sure the search was and whether it was right") {
  const auto builds = recorded(.03);
  int named = 0, right = 0;
  for (int seed = 0; seed < 20; ++seed) {
    ReplayOptions options;
    options.seed = static_cast<std::uint64_t>(seed);
    const Replay found = replay(builds, options, {});
    for (const Prediction& one : found.named) {
      ++named;
      right += one.right;
      CHECK(one.probability >= .99);
    }
    CHECK((found.outcome == ReplayOutcome::exact) ==
          (found.named.size() == 1 && found.named.front().right));
    std::set<std::size_t> bins;
    for (const Prediction& one : found.suspected) bins.insert(probability_bin(one.probability));
    CHECK(bins.size() == found.suspected.size());
    REQUIRE_FALSE(found.suspected.empty());
    CHECK(found.suspected.back().probability >= .9);
  }
  CHECK(named >= 19);
  CHECK(right >= named - 1);
  ReplayOptions nothing;
  nothing.planted = 0;
  for (const Prediction& one : replay(recorded(.3), nothing, {}).suspected) CHECK_FALSE(one.right);
}
