#include "service/cli/quantity_text.hpp"

#include <catch2/catch.hpp>

using namespace nightjar::cli;

TEST_CASE("a number has three significant digits and no exponent where people read none") {
  CHECK(number_text(1.18345) == "1.18");
  CHECK(number_text(9.996) == "10.0");
  CHECK(number_text(44040192) == "44000000");
  CHECK(number_text(.0012345) == "0.00123");
  CHECK(number_text(1.2345e-7) == "1.23e-07");
  CHECK(number_text(0) == "0");
}

TEST_CASE("an interval has as many digits as tell its bounds apart") {
  CHECK(interval_text(1.1832, 1.1664, 1.1901) == "1.18 (1.17 to 1.19)");
  CHECK(interval_text(44040192, 44036096, 44044288) == "44040000 (44036000 to 44044000)");
  CHECK(interval_text(4096, 4096, 4096) == "4096 (4096 to 4096)");
  CHECK(interval_text(.5, .5, .5) == "0.500 (0.500 to 0.500)");
}

TEST_CASE("a change is a signed percentage with its interval, and a factor from three on") {
  CHECK(change_text({1.18, 1.169, 1.191}) == "+18.0 % (16.9 to 19.1 %)");
  CHECK(change_text({.89, .87, .91}) == "-11.0 % (-13.0 to -9.0 %)");
  CHECK(change_text({1.001, .996, 1.006}) == "+0.10 % (-0.40 to 0.60 %)");
  CHECK(change_text({2.2, 2.1, 2.3}) == "+120 % (110 to 130 %)");
  CHECK(change_text({57.638, 42.422, 78.311}) == "57.6 times as much (42.4 to 78.3)");
  CHECK(change_text({1, 1, 1}) == "none");
  CHECK(size_text({.89, .87, .91}) == "11.0 % (9.0 to 13.0 %)");
}

TEST_CASE("the threshold that names a step is not over it") {
  CHECK(percent_text(.07) == "7 %");
  CHECK(percent_text(.005) == "0.5 %");
  CHECK(threshold_under({1.042, 1.032, 1.052}) == "4%");
  CHECK(threshold_under({1.128, 1.1, 1.15}) == "12%");
  CHECK(threshold_under({1.0063, 1.005, 1.007}) == "0.6%");
  CHECK(threshold_under({1 / 1.042, .95, .97}) == "4%");
}
