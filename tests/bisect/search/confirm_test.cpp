#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include <catch2/catch.hpp>

#include "bisect/search/decide.hpp"

using namespace nightjar::bisect;

namespace {

// Runs of `commit` in `session` around `level` (a log): the quantiles of a normal, so that their
// mean is exact.
void add_quantiles(SearchLog& log, int session, int commit, int runs, double level, double sd) {
  const boost::math::normal normal;
  for (int i = 0; i < runs; ++i) {
    const double e = sd * boost::math::quantile(normal, (i + .5) / runs);
    log.runs.push_back({session, commit, std::exp(level + e)});
  }
}

// Three builds; a step of `size` between the second and the third, suggested by sessions 0 and 1,
// and `fresh` runs a side in session 2 that show `shown` of it.
search::Check checked(double sd, double size, int fresh, double shown) {
  SearchLog log;
  log.commits = 2;
  log.built = {1};
  for (const int commit : {0, 2}) add_quantiles(log, 0, commit, 24, commit == 2 ? size : 0, sd);
  add_quantiles(log, 1, 1, 24, 0, sd);
  add_quantiles(log, 2, 1, fresh, 0, sd);
  add_quantiles(log, 2, 2, fresh, shown * size, sd);
  return search::check_step(1, size, search::infer(log, {}), log);
}

}  // namespace

TEST_CASE("fresh runs that show a step clearly are enough, however noisy the runs are") {
  CHECK(checked(.10, .10, 10, 1.2).passed);
  CHECK(checked(.05, .10, 4, 1.2).passed);
}

TEST_CASE("fresh runs that do not show the step speak against it at another time") {
  for (const int fresh : {6, 10, 20}) {
    const auto check = checked(.10, .10, fresh, 0);
    CHECK_FALSE(check.passed);
    CHECK(check.missing >= 2);
    CHECK(check.again_in_new_session);
  }
}

TEST_CASE("a step needs three fresh runs a side, however quiet the runs are") {
  const auto check = checked(.01, .10, 2, 1);
  CHECK_FALSE(check.passed);
  CHECK(check.missing == 1);
  CHECK(checked(.01, .10, 3, 1).passed);
}
