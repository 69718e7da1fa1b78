#include "storage/base/foreign_number.hpp"

#include <cmath>
#include <cstdint>

#include <catch2/catch.hpp>

using namespace nightjar;

namespace {
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double endless = std::numeric_limits<double>::infinity();
}  // namespace

TEST_CASE("A foreign number is an integer of ours only if it is whole and in range") {
  CHECK(integer_in<int>(3) == 3);
  CHECK(integer_in<int>(-0.0) == 0);
  CHECK(integer_in<int>(2147483647.0) == 2147483647);
  CHECK(integer_in<int>(-2147483648.0) == std::numeric_limits<int>::min());
  for (const double bad : {1e10, -1e10, 2147483648.0, 3.5, 1e300, no_number, endless, -endless})
    CHECK(integer_in<int>(bad) == std::nullopt);
  CHECK(integer_in<int>(-1, 0) == std::nullopt);
  CHECK(integer_in<int>(11, 0, 10) == std::nullopt);
  CHECK(integer_in<unsigned>(-0.5) == std::nullopt);
}

TEST_CASE("The bounds of 64 bits, which no double has, are not crossed") {
  const double above = std::ldexp(1, 63), below = std::nextafter(above, 0);
  CHECK(integer_in<std::int64_t>(above) == std::nullopt);
  CHECK(integer_in<std::int64_t>(below) == 9223372036854774784);
  CHECK(integer_in<std::int64_t>(-above) == std::numeric_limits<std::int64_t>::min());
  CHECK(integer_in<std::uint64_t>(2 * above) == std::nullopt);
  CHECK(integer_in<std::uint64_t>(above) == std::uint64_t{1} << 63);
}

TEST_CASE("A clamped number is the nearest in range, without its fraction") {
  CHECK(clamped_integer<int>(3.9) == 3);
  CHECK(clamped_integer<int>(-3.9) == -3);
  CHECK(clamped_integer<int>(1e10) == std::numeric_limits<int>::max());
  CHECK(clamped_integer<int>(-endless, -5) == -5);
  CHECK(clamped_integer<int>(endless, 0, 7) == 7);
  CHECK(clamped_integer<int>(no_number, 0, 7) == 0);
  CHECK(clamped_integer<std::int64_t>(1e19) == std::numeric_limits<std::int64_t>::max());
  CHECK(clamped_integer<std::uint64_t>(-0.5) == 0);
}
