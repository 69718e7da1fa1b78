#include "bisect/roofline.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::bisect;

namespace {

// 100 GFLOP/s and 10 GB/s: the ridge is at 10 FLOP a byte.
const Ceilings machine{"cpu", 1, {{"fp32", 100e9}, {"bf16", 400e9}}, 10e9};

}  // namespace

TEST_CASE("Below the ridge an operator is limited by memory, above it by math") {
  CHECK(ridge(machine, "fp32") == Approx(10));
  CHECK(limiter_of({1e9, 1e9, 0.11, true, "fp32"}, machine) == Limiter::memory);
  CHECK(limiter_of({20e9, 1e9, 0.25, true, "fp32"}, machine) == Limiter::math);
}

TEST_CASE("An operator far above both bounds has short calls, or inefficient ones") {
  CHECK(least_seconds({1e6, 1e5, 1, true, "fp32"}, machine) == Approx(1e-5));
  CHECK(limiter_of({1e6, 1e5, 3.9e-5, true, "fp32", 10}, machine) == Limiter::math);
  CHECK(limiter_of({1e6, 1e5, 4.1e-5, true, "fp32", 10}, machine) == Limiter::launch);
  CHECK(limiter_of({1e6, 1e5, 4.1e-5, true, "fp32", 1}, machine) == Limiter::inefficient);
  // A pow of 5 ms, and a copy that transposes; both move 8 MB.
  CHECK(limiter_of({1e6, 8e6, 5e-3, true, "fp32", 1}, machine) == Limiter::inefficient);
  CHECK(limiter_of({0, 8e6, 4e-3, true, "fp32", 4}, machine) == Limiter::inefficient);
}

TEST_CASE("An operator that moves no bytes has no limiter") {
  CHECK_FALSE(limiter_of({0, 0, 1e-6, true, ""}, machine));  // a view only costs its call
  CHECK_FALSE(limiter_of({0, 0, 5, false, ""}, machine));
}

TEST_CASE("Each type has a ridge of its own, and one without a ceiling is held against fp32") {
  CHECK(limiter_of({20e9, 1e9, 0.11, true, "bf16"}, machine) == Limiter::memory);
  CHECK(ridge(machine, "fp64") == ridge(machine, "fp32"));
}

TEST_CASE("Where operations were not counted the limiter is not made up") {
  CHECK(limiter_of({0, 1e9, 0.11, false, "fp32"}, machine) == Limiter::unknown);
  CHECK(limiter_of({0, 1e9, 5, false, "fp32"}, machine) == Limiter::unknown);
}
