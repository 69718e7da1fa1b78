#include "service/cli/compared_metrics.hpp"

#include <catch2/catch.hpp>

TEST_CASE("an interval takes so many runs that chance alone rarely sorts them by side") {
  const auto has_interval = [](std::size_t control, std::size_t treatment) {
    nightjar::cli::ComparedRow row;
    row.control_runs = control;
    row.treatment_runs = treatment;
    return row.has_interval();
  };
  // Two of the 20 ways in which three and three runs can be sorted have all of one side first.
  CHECK(has_interval(3, 3));
  CHECK(has_interval(2, 5));        // 21 ways
  CHECK_FALSE(has_interval(2, 4));  // 15
  CHECK_FALSE(has_interval(1, 18));
  CHECK(has_interval(1, 19));
}
