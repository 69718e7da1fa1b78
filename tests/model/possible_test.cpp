#include "storage/model/possible.hpp"

#include <limits>

#include <catch2/catch.hpp>

using namespace nightjar;

TEST_CASE("a number that nobody can have measured is told from one that somebody may have") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                   infinity = std::numeric_limits<double>::infinity();
  const auto possible = [](const char* metric, double value) {
    return is_possible(*find_metric(metric), value);
  };
  for (const Metric& metric : all_metrics()) {
    INFO(metric.name);
    CHECK(is_possible(metric, 1));
    for (const double value : {nan, infinity, -infinity, 1e300, -1e300})
      CHECK_FALSE(is_possible(metric, value));
  }
  CHECK(possible("latency", 1e-9));
  CHECK_FALSE(possible("latency", 0));
  CHECK_FALSE(possible("latency", -.001));
  CHECK_FALSE(possible("latency", 1e8));  // three years
  CHECK_FALSE(possible("latency", 5e-324));
  CHECK_FALSE(possible("compile_time", 1e-300));
  CHECK_FALSE(possible("speedup", 5e-324));
  CHECK(possible("kernel_time", 0));  // no kernel ran
  CHECK(possible("peak_cpu_memory", 8e13));
  CHECK_FALSE(possible("peak_cpu_memory", -1));
  CHECK(possible("leaked_memory", -4096));  // it gave some back
  CHECK(is_possible_duration(0));
  CHECK_FALSE(is_possible_duration(-1));
  CHECK_FALSE(is_possible_duration(nan));
}

TEST_CASE("the name of a metric is a plain word") {
  for (const Metric& metric : all_metrics()) CHECK(is_metric_name(metric.name));
  for (const char* name : {"throughput", "p99.latency", "Tokens-1"}) CHECK(is_metric_name(name));
  for (const std::string& name :
       {std::string(), std::string("a\0b", 3),
        std::string("\xE2\x80\x8F"
                    "latency"),
        std::string("two words"), std::string("1st"), std::string("a/b"), std::string(101, 'a')})
    CHECK_FALSE(is_metric_name(name));
}
