#include "bisect/reliability.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::bisect;

TEST_CASE("a bin begins with its bound, and the last one holds 1") {
  CHECK(probability_bin(0) == 0);
  CHECK(probability_bin(.0999) == 0);
  CHECK(probability_bin(.1) == 1);
  CHECK(probability_bin(.9) == 5);
  CHECK(probability_bin(.9899) == 5);
  CHECK(probability_bin(.99) == 6);
  CHECK(probability_bin(1) == 6);
}

TEST_CASE("each bin says how often what was stated in it was right") {
  std::vector<Prediction> predictions(20, {.995, true});
  predictions.push_back({.999, false});
  predictions.push_back({.5, true});
  predictions.push_back({.7, false});
  const auto bins = reliability(predictions);
  REQUIRE(bins.size() == 7);
  CHECK(bins[6].from == .99);
  CHECK(bins[6].to == 1);
  CHECK(bins[6].cases == 21);
  CHECK(bins[6].right == 20);
  CHECK(bins[6].stated == Approx((20 * .995 + .999) / 21));
  CHECK(bins[6].interval.low == Approx(.7618).margin(.0001));  // 20 of 21 in tables of exact limits
  CHECK(bins[6].interval.high == Approx(.9988).margin(.0001));
  CHECK(bins[3].from == .5);
  CHECK(bins[3].to == .75);
  CHECK(bins[3].cases == 2);
  CHECK(bins[3].right == 1);
  CHECK(bins[3].stated == Approx(.6));
  CHECK(bins[0].cases == 0);
  CHECK(bins[0].stated == 0);
  CHECK(bins[0].interval.low == 0);
  CHECK(bins[0].interval.high == 1);
}
