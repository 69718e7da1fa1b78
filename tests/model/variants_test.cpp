#include "storage/model/variants.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("A label lists the variants of builds that a machine measures") {
  CHECK(measures("cu126,cpu", "cu126", "rocm7.2"));
  CHECK(measures("cu126,cpu", "cpu", "rocm7.2"));
  CHECK_FALSE(measures("cu126,cpu", "rocm7.2", "rocm7.2"));
  CHECK_FALSE(measures("cu126,cpu", "cu12", "cpu"));
  CHECK_FALSE(measures("", "cpu", "cpu"));
}

TEST_CASE("A machine without a label measures the usual variant only") {
  Runner runner;
  CHECK(measures(runner, "cpu", "cpu"));
  CHECK_FALSE(measures(runner, "cu126", "cpu"));
  runner.labels["variant"] = "cu126";
  CHECK(measures(runner, "cu126", "cpu"));
  CHECK_FALSE(measures(runner, "cpu", "cpu"));
}
