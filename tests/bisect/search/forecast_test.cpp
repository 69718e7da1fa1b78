// "Some 120 to go" is for people who wait: right within a factor of two on average, and never more
// than the budget leaves.
#include <catch2/catch.hpp>

#include "bisect/search.hpp"
#include "tests/support/search_world.hpp"

using namespace nightjar;
using namespace nightjar::bisect;

namespace {

struct Told {
  double said = 0, took = 0;  // runs to go, after the first ten
};

// Ten searches; what was said once the ends had their first runs, and what it took from there.
Told ten_searches(double cv) {
  Told out;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    test::WorldOptions options;
    options.cv = cv;
    options.planted = {{37, .07}};
    test::World world(options, 700 + seed);
    SearchLog log;
    out.took += test::search(world, 100, SearchPolicy{}, &log).runs - 10;
    log.runs.resize(10);
    log.built = log.untestable = {};
    out.said += next_step(log, {}).belief.expected_runs;
  }
  return out;
}

}  // namespace

TEST_CASE("the runs still to go are told within a factor of two on average") {
  for (const double cv : {.03, .05}) {
    const Told told = ten_searches(cv);
    INFO("CV " << cv << ": said " << told.said / 10 << ", took " << told.took / 10);
    CHECK(told.said < 2 * told.took);
    CHECK(told.said > .5 * told.took);
  }
}

TEST_CASE("no more runs are expected than the budget leaves") {
  test::WorldOptions options;
  options.cv = .05;
  options.planted = {{50, .10}};
  test::World world(options, 3);
  SearchLog log;
  test::search(world, 100, SearchPolicy{}, &log);
  SearchPolicy policy;
  policy.max_runs = static_cast<int>(log.runs.size());
  while (log.runs.size() > 10) {
    log.runs.pop_back();
    CHECK(next_step(log, policy).belief.expected_runs <=
          policy.max_runs - static_cast<int>(log.runs.size()));
  }
}
