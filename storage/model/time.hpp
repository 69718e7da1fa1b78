// Points in time (UTC, microseconds), their RFC 3339 text, and the clock port that everything asks.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nightjar {

using Time = std::chrono::sys_time<std::chrono::microseconds>;

// "2026-08-20T07:30:00.000000Z"; whole seconds are written without a fraction.
std::string to_rfc3339(Time time);
// Accepts a fraction of up to 6 digits and the offset Z only; nullopt otherwise.
std::optional<Time> parse_rfc3339(std::string_view text);
// "2026-08-20"
std::string to_date(Time time);

// The nearest time that to_rfc3339() can write, of years 1 to 9999, for what others claim.
template <class Duration>
Time nearest_time(Duration since_epoch) {
  using namespace std::chrono;
  constexpr sys_days first{year{1} / 1 / 1}, after{year{10000} / 1 / 1};
  return Time(std::clamp(since_epoch, Duration(first.time_since_epoch()),
                         Duration(after.time_since_epoch()) - Duration(1)));
}

// How far ahead of ours the clock of others may be: theirs may be in another time zone.
inline constexpr std::chrono::days clocks_differ{1};

std::int64_t to_us(Time time);
Time from_us(std::int64_t microseconds);

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Time now() const override;
};

}  // namespace nightjar
