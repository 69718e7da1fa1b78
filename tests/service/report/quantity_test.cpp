#include "service/report/quantity.hpp"

#include <catch2/catch.hpp>

using namespace nightjar::service;

TEST_CASE("Values carry the unit that a person would choose") {
  CHECK(quantity("latency", .004103) == "4.103 ms");
  CHECK(quantity("latency", 12.5) == "12.50 s");
  CHECK(quantity("latency", .00012) == "120.0 µs");
  CHECK(quantity("peak_cpu_memory", 242614272) == "231.4 MiB");
  CHECK(quantity("peak_cpu_memory", 0) == "0.000 bytes");
  CHECK(quantity("leaked_memory", -2048) == "-2.000 KiB/iteration");
  CHECK(quantity("unheard_of", 3.14159) == "3.142");
}

TEST_CASE("Values side by side share a unit") {
  CHECK(quantity("latency", .0009, .0011) == "0.900 ms");
  CHECK(quantity("leaked_memory", 0, 1258291.2) == "0.000 MiB/iteration");
}

TEST_CASE("Changes are percentages until they are multiples") {
  CHECK(change(1.231) == "+23 %");
  CHECK(change(1.0417) == "+4.2 %");
  CHECK(change(1.0996) == "+10 %");
  CHECK(change(.93) == "-7.0 %");
  CHECK(change(.99999) == "+0.0 %");
  CHECK(change(2.5) == "+150 %");
  CHECK(change(6.8) == "×6.8");
  CHECK(change_interval(1.2150, 1.2201) == "+21.5 % to +22.0 %");
}

TEST_CASE("A slope's change is a difference") {
  CHECK(change_of("leaked_memory", 0, 1258291.2, 1) == "+1.200 MiB/iteration");
  CHECK(change_of("latency", 1, 1.2, 1.2) == "+20 %");
}

TEST_CASE("A probability never claims certainty") {
  CHECK(probability(.9962) == "99.6 %");
  CHECK(probability(.99951) == "> 99.9 %");
  CHECK(probability(1) == "> 99.9 %");
  CHECK(probability(.0004) == "< 0.1 %");
  CHECK(probability(.0031) == "0.3 %");
}

TEST_CASE("Metrics are named as people name them") {
  CHECK(metric_title("peak_cpu_memory") == "peak CPU memory");
  CHECK(metric_title("latency") == "latency");
}
