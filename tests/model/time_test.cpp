#include "storage/model/time.hpp"

#include <catch2/catch.hpp>

#include "tests/support/manual_clock.hpp"

using namespace nightjar;
using namespace std::chrono_literals;

TEST_CASE("a time is written with a fraction only where it has one") {
  const Time noon = std::chrono::sys_days{std::chrono::year{2026} / 8 / 20} + 12h;
  CHECK(to_rfc3339(noon) == "2026-08-20T12:00:00Z");
  CHECK(to_rfc3339(noon + 5us) == "2026-08-20T12:00:00.000005Z");
  CHECK(to_rfc3339(Time{} - 1us) == "1969-12-31T23:59:59.999999Z");
  CHECK(to_date(noon) == "2026-08-20");
}

TEST_CASE("what is written is read back") {
  for (const char* text :
       {"2026-08-20T07:30:00Z", "2024-02-29T23:59:59.000001Z", "1969-12-31T23:59:59.999999Z"}) {
    const auto time = parse_rfc3339(text);
    REQUIRE(time);
    CHECK(to_rfc3339(*time) == text);
    CHECK(from_us(to_us(*time)) == *time);
  }
  CHECK(parse_rfc3339("2026-08-20T07:30:00.25Z") == *parse_rfc3339("2026-08-20T07:30:00Z") + 250ms);
}

TEST_CASE("what is no UTC time in RFC 3339 is refused") {
  for (const char* text :
       {"", "2026-08-20", "2026-08-20 07:30:00Z", "2026-08-20T07:30:00",
        "2026-08-20T07:30:00+02:00", "2026-02-30T07:30:00Z", "2026-08-20T24:00:00Z",
        "2026-08-20T07:60:00Z", "2026-8-20T07:30:00Z", "2026-08-20T07:30:00.0000001Z",
        "2026-08-20T07:30:00Zx", "2026-08-20T07:30:00.Z", "-026-08-20T07:30:00Z",
        "2026-08-20T+7:30:00Z"}) {
    INFO(text);
    CHECK_FALSE(parse_rfc3339(text));
  }
}

TEST_CASE("a manual clock stands still until it is told") {
  ManualClock clock(Time{} + 1s);
  CHECK(clock.now() == clock.now());
  clock.advance(2s);
  CHECK(clock.now() == Time{} + 3s);
}

TEST_CASE("the system clock is in this century") {
  CHECK(to_rfc3339(SystemClock{}.now()).substr(0, 2) == "20");
}

TEST_CASE("a time that others claim is one that can be written") {
  const auto most = std::chrono::seconds::max(), least = std::chrono::seconds::min();
  CHECK(to_rfc3339(nearest_time(most)) == "9999-12-31T23:59:59Z");
  CHECK(to_rfc3339(nearest_time(least)) == "0001-01-01T00:00:00Z");
  CHECK(to_rfc3339(nearest_time(std::chrono::milliseconds::max())) ==
        "9999-12-31T23:59:59.999000Z");
  CHECK(to_rfc3339(nearest_time(std::chrono::seconds(1'787'000'000))) == "2026-08-17T20:53:20Z");
}
