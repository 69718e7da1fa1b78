#include <cmath>
#include <fstream>
#include <map>
#include <string>

#include <catch2/catch.hpp>

#include "bisect/detection.hpp"
#include "tests/support/search_world.hpp"
#include "tests/support/source_tree.hpp"

using namespace nightjar;
using namespace nightjar::bisect;

namespace {

std::vector<Position> read(const std::string& name) {
  std::ifstream file(nightjar::test::source_tree() / "tests/bisect/data" / name);
  REQUIRE(file);
  std::string header;
  std::getline(file, header);
  std::map<long long, std::vector<double>> values;
  long long position = 0;
  char comma = 0;
  double value = 0;
  while (file >> position >> comma >> value) values[position].push_back(value);
  std::vector<Position> out;
  for (auto& [at, runs] : values) out.push_back({at, runs});
  return out;
}

struct Maker {
  test::World random;
  explicit Maker(std::uint64_t seed) : random({}, seed) {}

  // `level(i)` times noise; 1 to 5 runs a position.
  template <class Level>
  std::vector<Position> series(int positions, double cv, Level level) {
    std::vector<Position> out;
    for (int i = 0; i < positions; ++i) {
      Position position{i + 1, {}};
      const int runs = 1 + static_cast<int>(random.uniform() * 5);
      const double here = level(i);
      for (int r = 0; r < runs; ++r) position.runs.push_back(here * std::exp(cv * random.normal()));
      out.push_back(position);
    }
    return out;
  }
};

}  // namespace

TEST_CASE("labelled regressions of a real database are found within three positions") {
  const auto first = change_points(read("regression-0002.csv"), {});
  REQUIRE(first.size() == 1);
  CHECK(std::abs(first[0].position - 15) <= 3);
  CHECK(first[0].worse);
  CHECK(first[0].ratio.ratio == Approx(1.086).margin(.01));
  const auto second = change_points(read("regression-0012.csv"), {});
  REQUIRE(second.size() == 1);
  CHECK(std::abs(second[0].position - 88) <= 3);
  CHECK(second[0].ratio.low > 1.2);
}

TEST_CASE("a real series of high deviation without a regression stays silent") {
  CHECK(change_points(read("high-deviation-0018.csv"), {}).empty());
}

TEST_CASE("a step is found where it is, also near the ends") {
  for (const int at : {6, 20, 60, 113}) {
    Maker maker(static_cast<std::uint64_t>(at));
    const auto found =
        change_points(maker.series(120, .02, [&](int i) { return i < at ? 10 : 11; }), {});
    INFO("step at index " << at);
    REQUIRE(found.size() == 1);
    CHECK(std::abs(found[0].position - (at + 1)) <= 3);
    CHECK(found[0].worse);
    CHECK(found[0].before == Approx(10).epsilon(.02));
    CHECK(found[0].after == Approx(11).epsilon(.02));
  }
}

TEST_CASE("a regression and its repair are two changes of opposite verdicts") {
  Maker maker(3);
  const auto found = change_points(
      maker.series(90, .02, [](int i) { return i >= 30 && i < 55 ? 1.15 : 1.0; }), {});
  REQUIRE(found.size() == 2);
  CHECK(found[0].worse);
  CHECK_FALSE(found[1].worse);
}

TEST_CASE("where higher is better, a rise is better") {
  Maker maker(4);
  DetectionPolicy policy;
  policy.direction = Direction::higher_is_better;
  const auto found =
      change_points(maker.series(60, .02, [](int i) { return i < 30 ? 1 : 1.2; }), policy);
  REQUIRE(found.size() == 1);
  CHECK_FALSE(found[0].worse);
}

TEST_CASE("spikes, modes that change with the build, noise and small steps stay silent") {
  int flagged = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Maker maker(seed);
    auto chance = [&](double p) { return maker.random.uniform() < p; };
    flagged +=
        !change_points(maker.series(150, .02, [&](int) { return chance(.08) ? 1.4 : 1; }), {})
             .empty();
    flagged +=
        !change_points(maker.series(150, .02, [&](int) { return chance(.5) ? 1.25 : 1; }), {})
             .empty();
    flagged += !change_points(maker.series(150, .12, [](int) { return 1; }), {}).empty();
    flagged +=
        !change_points(maker.series(150, .01, [](int i) { return i < 70 ? 1 : 1.04; }), {}).empty();
  }
  CHECK(flagged <= 1);
}

TEST_CASE("identical values, short and empty series have no changes") {
  CHECK(change_points({}, {}).empty());
  Maker maker(5);
  CHECK(change_points(maker.series(3, 0, [](int) { return 7; }), {}).empty());
  CHECK(change_points(maker.series(50, 0, [](int) { return 7; }), {}).empty());
}

TEST_CASE("the shortest levels are those that a step without noise needs") {
  const auto changes = [](int positions, int at) {
    std::vector<Position> series;
    for (int i = 0; i < positions; ++i)
      series.push_back({i, {(i < at ? 10 : 13) + 1e-6 * (i * 89 % 211)}});
    return change_points(series, {}).size();
  };
  const int least = shortest_series();
  CHECK(least == 16);
  for (int at = 1; at + 1 < least; ++at) CHECK(changes(least - 1, at) == 0);
  for (const int positions : {least, 17, 18, 20, 40, 200}) {
    const auto [start, end] = shortest_levels(positions, positions, positions);
    CAPTURE(positions, start, end);
    CHECK(changes(positions, start) == 1);
    CHECK(changes(positions, start - 1) == 0);
    CHECK(changes(positions, positions - end) == 1);
    CHECK(changes(positions, positions - end + 1) == 0);
  }
  CHECK(shortest_levels(40, 30, 10).end == 0);
}
