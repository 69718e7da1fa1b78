#include "service/clock_steps.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;
using namespace nightjar::service;
using namespace std::chrono_literals;

TEST_CASE("A clock that was set is seen, one that is corrected is not") {
  const Time wall = *parse_rfc3339("2026-08-20T08:00:00Z");
  const std::chrono::steady_clock::time_point steady{1000h};
  ClockSteps steps;
  CHECK_FALSE(steps.observe(wall, steady));
  CHECK_FALSE(steps.observe(wall + 5s, steady + 5s));
  CHECK_FALSE(steps.observe(wall + 20s, steady + 10s));  // ten seconds fast
  CHECK(steps.observe(wall + 25s + 24h, steady + 15s) == 24h);
  CHECK_FALSE(steps.observe(wall + 30s + 24h, steady + 20s));
  CHECK(steps.observe(wall + 35s, steady + 25s) == -24h);
}
