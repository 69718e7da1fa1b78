#include "service/cli/ends.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace nightjar::cli;
using nightjar::bisect::Ratio;
using nightjar::bisect::SearchLog;

namespace {

// Twelve runs of each end, the bad one `factor` times the good one, scattered by some per cent.
SearchLog two_ends(double factor) {
  SearchLog log;
  log.commits = 4;
  for (int i = 0; i < 12; ++i) {
    const double scatter = 1 + .002 * (i * 5 % 12);
    log.runs.push_back({0, 0, 100 * scatter});
    log.runs.push_back({0, 4, 100 * factor * scatter});
  }
  return log;
}

}  // namespace

TEST_CASE("both ends have a level each, and the change is of the measured number") {
  const auto ends = ends_of(two_ends(1.1), false);
  REQUIRE(ends);
  CHECK(ends->good.runs == 12);
  CHECK(ends->good.low < ends->good.location);
  CHECK(ends->bad.location == Approx(1.1 * ends->good.location));
  CHECK(ends->change.ratio == Approx(1.1));
  CHECK(ends->smallest_seen > 1);
  CHECK(ends_of(two_ends(1.1), true)->smallest_seen == Approx(1 / ends->smallest_seen));
}

TEST_CASE("one run of an end is no evidence") {
  SearchLog log;
  log.commits = 1;
  log.runs = {{0, 0, 1}, {0, 1, 1}};
  CHECK_FALSE(ends_of(log, false));
  CHECK_FALSE(level_of(log.runs, 7));
}

TEST_CASE("a failure rate has an interval even where no run failed") {
  SearchLog log;
  log.commits = 3;
  for (int i = 0; i < 20; ++i) {
    log.runs.push_back({0, 0, 0});
    log.runs.push_back({0, 3, i % 4 == 0 ? 1.0 : 0.0});
  }
  const auto ends = failure_ends_of(log);
  REQUIRE(ends);
  CHECK(ends->good.location == 0);
  CHECK(ends->good.low == 0);
  CHECK(ends->good.high == Approx(.161).margin(.001));
  CHECK(ends->bad.location == .25);
  CHECK(smallest_rate_seen(20) == Approx(.109).margin(.001));
}

TEST_CASE("ends differ by less than the threshold where five runs of each say so") {
  const auto log = [](int good, int bad, double factor) {
    SearchLog made;
    made.commits = 2;
    for (int i = 0; i < good; ++i) made.runs.push_back({0, 0, 100 + .01 * i});
    for (int i = 0; i < bad; ++i) made.runs.push_back({0, 2, factor * (100 + .01 * i)});
    return made;
  };
  CHECK(differ_below(log(5, 5, 1.04), false, .07));
  CHECK_FALSE(differ_below(log(5, 4, 1.04), false, .07));
  CHECK_FALSE(differ_below(log(4, 5, 1.04), false, .07));
  CHECK_FALSE(differ_below(log(5, 5, 1.1), false, .07));
  CHECK_FALSE(differ_below(log(5, 5, 1), false, .07));
  CHECK(differ_below(log(5, 5, 1 / 1.04), true, .07));
}

TEST_CASE("a search for a decrease is one for the increase of the inverse") {
  const SearchLog log = two_ends(.8), costs = as_costs(log, true);
  CHECK(costs.runs[1].value == Approx(1 / log.runs[1].value));
  CHECK(as_costs(log, false).runs[1].value == log.runs[1].value);
  const Ratio cost{1.25, 1.2, 1.3}, measured = measured_ratio(cost, true);
  CHECK(measured.ratio == Approx(.8));
  CHECK(measured.low == Approx(1 / 1.3));
  CHECK(measured.high == Approx(1 / 1.2));
  CHECK(measured_ratio(cost, false).ratio == 1.25);
}
