#include "bisect/change_points.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <string>

#include <catch2/catch.hpp>

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

TEST_CASE("a level of five positions is told at either end and between two others") {
  const auto changes = [](int positions, int from, int to) {
    std::vector<Position> series;
    for (int i = 0; i < positions; ++i)
      series.push_back({i, {(i < from || i >= to ? 10 : 13) + 1e-6 * (i * 89 % 211)}});
    return change_points(series, {}).size();
  };
  const int least = shortest_series();
  CHECK(least == 10);
  for (int at = 1; at + 1 < least; ++at) CHECK(changes(least - 1, 0, at) == 0);
  for (const int positions : {least, 11, 18, 20, 40, 200}) {
    CAPTURE(positions);
    const auto [outer, between] = shortest_levels(positions, 0);
    CHECK(outer == 5);
    CHECK(changes(positions, 0, 5) == 1);
    CHECK(changes(positions, 0, 4) == 0);
    CHECK(changes(positions, positions - 5, positions) == 1);
    CHECK(changes(positions, positions - 4, positions) == 0);
    CHECK((between == 5 || positions < 17));
    if (positions < 20) continue;
    for (int from = 8; from + 13 <= positions; ++from)
      CHECK(changes(positions, from, from + 5) == 2);
    CHECK(changes(positions, 8, 12) == 0);
  }
  CHECK(shortest_levels(9, 0).outer == 0);
}

namespace {

std::vector<Position> stretches(const std::vector<std::pair<double, int>>& levels) {
  std::vector<double> values;
  for (const auto& [level, positions] : levels)
    for (int i = 0; i < positions; ++i) {
      const auto at = values.size();
      values.push_back(level * (1 + .0007 * static_cast<double>(at * 7 % 11)));
    }
  return positions_of(values);
}

std::vector<Position> noisy(const std::vector<std::pair<double, int>>& levels, double cv,
                            std::uint64_t seed) {
  test::World random({}, seed);
  std::vector<double> values;
  for (const auto& [level, positions] : levels)
    for (int i = 0; i < positions; ++i) values.push_back(level * std::exp(cv * random.normal()));
  return positions_of(values);
}

std::vector<std::pair<long long, bool>> told(const std::vector<Position>& series) {
  std::vector<std::pair<long long, bool>> out;
  for (const Change& change : change_points(series, {}))
    out.emplace_back(change.position, change.worse);
  return out;
}

using Signs = std::vector<std::pair<long long, bool>>;

}  // namespace

TEST_CASE("a weak step takes no room from a strong one") {
  for (const int last : {5, 13, 16, 17, 18, 24, 60}) {
    CAPTURE(last);
    CHECK(told(stretches({{1, 6}, {2.4, 14}, {.8, 5}, {.95, last}})) ==
          Signs{{6, true}, {20, false}, {25, true}});
  }
}

TEST_CASE("values that are equal or rounded have the changes of those that are not") {
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.push_back((i < 10 ? 10 : 20) + .01 * (i % 10));
  CHECK(told(positions_of(values)) == Signs{{10, true}});
  values[9] = values[8];
  CHECK(told(positions_of(values)) == Signs{{10, true}});
  for (double& value : values) value = std::round(value);
  CHECK(told(positions_of(values)) == Signs{{10, true}});
}

TEST_CASE("a level between two others is told from five positions on, and a spike is not") {
  for (const int positions : {5, 6, 8, 10, 13, 16, 20}) {
    CAPTURE(positions);
    CHECK(told(noisy({{100, 30}, {160, positions}, {100, 30}}, .01, 3)) ==
          Signs{{30, true}, {30 + positions, false}});
  }
  for (const int positions : {1, 2, 3, 4})
    CHECK(told(noisy({{100, 30}, {160, positions}, {100, 30}}, .01, 3)).empty());
  CHECK(told(noisy({{100, 40}, {160, 6}, {100, 3}}, .01, 3)) == Signs{{40, true}});
}

TEST_CASE("steps below the threshold that reach it together are one change") {
  const auto four = noisy({{100, 20}, {104, 20}, {108, 20}, {112, 20}}, .005, 1);
  const Levels levels = find_levels(four, {});
  CHECK(levels.begins == std::vector<int>{0, 20, 40, 60});
  REQUIRE(levels.changes.size() == 1);
  const Change& climb = levels.changes[0];
  CHECK(climb.position == 20);
  CHECK(climb.until == 60);
  CHECK(climb.steps == 3);
  CHECK(climb.worse);
  CHECK(climb.ratio.ratio == Approx(1.12).epsilon(.005));
  REQUIRE(levels.whole);
  CHECK(levels.whole_counts);
  CHECK(levels.whole->ratio.ratio == Approx(1.12).epsilon(.005));
  DetectionPolicy higher;
  higher.direction = Direction::higher_is_better;
  CHECK_FALSE(change_points(four, higher).at(0).worse);
}

TEST_CASE("a ramp is a change from its first level to its last") {
  for (const auto& [total, positions] : {std::pair{.3, 100}, {.15, 200}, {.3, 1000}}) {
    CAPTURE(total, positions);
    test::World random({}, 5);
    std::vector<double> values;
    for (int i = 0; i < positions; ++i)
      values.push_back((1 + total * i / positions) * std::exp(.005 * random.normal()));
    const Levels levels = find_levels(positions_of(values), {});
    REQUIRE(levels.whole);
    CHECK(levels.whole_counts);
    CHECK(levels.whole->worse);
    CHECK(levels.whole->ratio.ratio == Approx(1 + total).epsilon(.03));
    CHECK_FALSE(levels.changes.empty());
  }
}

TEST_CASE("a series that wanders has no climb, and what came back is no change in the whole") {
  const auto levels =
      find_levels(noisy({{100, 15}, {104, 15}, {108, 15}, {104, 15}, {100, 15}}, .005, 2), {});
  CHECK(levels.changes.empty());
  REQUIRE(levels.whole);
  CHECK_FALSE(levels.whole_counts);
  REQUIRE(levels.below);
  CHECK(levels.below->ratio.ratio == Approx(1.04).margin(.01));
}

TEST_CASE("what is printed is what was judged: each interval lies on its verdict's side of one") {
  test::World random({}, 11);
  int changes = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    std::vector<std::pair<double, int>> levels;
    for (int i = 0; i < 4; ++i)
      levels.emplace_back(100 * (1 + random.uniform()),
                          5 + static_cast<int>(20 * random.uniform()));
    const double cv = .005 + .1 * random.uniform();
    for (const Change& change : change_points(noisy(levels, cv, seed), {})) {
      ++changes;
      CHECK((change.worse ? change.ratio.low > 1 : change.ratio.high < 1));
      CHECK((change.after > change.before) == change.worse);
      CHECK(change.ratio.ratio == Approx(change.after / change.before).epsilon(.05));
    }
  }
  CHECK(changes > 150);
}

TEST_CASE("more positions at the newest level remove no change that is ten positions old") {
  test::World random({}, 17);
  int old_changes = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::vector<std::pair<double, int>> levels;
    double level = 100;
    for (int i = 0; i < 4; ++i) {
      levels.emplace_back(level, 5 + static_cast<int>(15 * random.uniform()));
      const double step = 1.1 + random.uniform();
      level *= random.uniform() < .5 ? step : 1 / step;
    }
    levels.back().second += 5;
    const double cv = .005 + .015 * random.uniform();
    const auto short_series = noisy(levels, cv, seed);
    levels.back().second += 40;
    const auto long_series = noisy(levels, cv, seed);  // begins with the short one
    const auto size = static_cast<long long>(short_series.size());
    for (const Change& change : change_points(short_series, {})) {
      if (size - change.position < 2 * shortest_level) continue;
      ++old_changes;
      for (auto more = short_series.size() + 1; more <= long_series.size(); ++more) {
        const auto now = change_points(std::span(long_series).first(more), {});
        CAPTURE(seed, change.position, more);
        CHECK(std::any_of(now.begin(), now.end(), [&](const Change& one) {
          return std::abs(one.position - change.position) <= 1 && one.worse == change.worse;
        }));
      }
    }
  }
  CHECK(old_changes > 150);
}

TEST_CASE("drawn levels of six or more positions are found, and flat series are not split") {
  test::World random({}, 23);
  int steps = 0, found = 0, wrong = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::vector<std::pair<double, int>> levels;
    std::vector<long long> at;
    double level = 100;
    int positions = 0;
    for (int i = 0; i < 4; ++i) {
      const int size = 6 + static_cast<int>(std::pow(random.uniform(), 2) * 35);
      levels.emplace_back(level, size);
      if (i > 0) at.push_back(positions);
      positions += size;
      const double step = 1.1 + 1.3 * random.uniform();
      level *= random.uniform() < .5 ? step : 1 / step;
    }
    const auto changes = change_points(noisy(levels, .005 + .015 * random.uniform(), seed), {});
    steps += static_cast<int>(at.size());
    int matched = 0;
    for (const long long truth : at)
      matched += std::any_of(changes.begin(), changes.end(), [&](const Change& one) {
        return std::abs(one.position - truth) <= 2;
      });
    found += matched;
    wrong += static_cast<int>(changes.size()) - matched;
    CHECK(change_points(noisy({{100, 20 + static_cast<int>(seed)}}, .02, seed + 1000), {}).empty());
  }
  CHECK(found >= .97 * steps);
  CHECK(wrong <= 1);
}

TEST_CASE("a quiet part shows steps that the scatter of the whole series would hide") {
  auto series = noisy({{150, 60}}, .15, 3);
  for (const Position& quiet : noisy({{100, 60}, {85, 10}}, .005, 4))
    series.push_back({static_cast<long long>(series.size()), quiet.runs});
  CHECK(told(series) == Signs{{60, false}, {120, false}});
}
