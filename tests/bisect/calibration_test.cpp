#include "bisect/calibration.hpp"

#include <stdexcept>

#include <catch2/catch.hpp>

using namespace nightjar::bisect;

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
    const double seen = smallest_seen(sd, 5, {});
    CHECK(seen > last);
    last = seen;
  }
  CHECK(smallest_seen(.005, 5, {}) < .075);
  CHECK(smallest_seen(.10, 20, {}) < smallest_seen(.10, 5, {}));
}
