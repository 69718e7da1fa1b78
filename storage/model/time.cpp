#include "storage/model/time.hpp"

#include <cstdio>

namespace nightjar {
namespace chrono = std::chrono;

std::string to_rfc3339(Time time) {
  const auto day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date{day};
  const chrono::hh_mm_ss clock{time - day};
  char text[80];
  const int length = std::snprintf(
      text, sizeof text, "%04d-%02u-%02uT%02ld:%02ld:%02ld", int(date.year()),
      unsigned(date.month()), unsigned(date.day()), long(clock.hours().count()),
      long(clock.minutes().count()), long(clock.seconds().count()));
  std::string out(text, static_cast<std::size_t>(length));
  if (const auto fraction = clock.subseconds().count(); fraction != 0) {
    std::snprintf(text, sizeof text, ".%06ld", long(fraction));
    out += text;
  }
  return out + "Z";
}

std::optional<Time> parse_rfc3339(std::string_view text) {
  const std::string copy(text);
  int year, month, day, hour, minute, second, read = 0;
  if (std::sscanf(copy.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute,
                  &second, &read) != 6 ||
      read != 19)
    return std::nullopt;
  const chrono::year_month_day date{chrono::year{year}, chrono::month(unsigned(month)),
                                    chrono::day(unsigned(day))};
  if (!date.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
    return std::nullopt;
  std::size_t at = 19;
  std::int64_t micro = 0;
  if (at < copy.size() && copy[at] == '.') {
    std::int64_t unit = 100000;
    for (++at; at < copy.size() && copy[at] >= '0' && copy[at] <= '9'; ++at, unit /= 10) {
      if (unit == 0) return std::nullopt;
      micro += (copy[at] - '0') * unit;
    }
  }
  if (copy.substr(at) != "Z") return std::nullopt;
  return Time{chrono::sys_days{date}} + chrono::hours{hour} + chrono::minutes{minute} +
         chrono::seconds{second} + chrono::microseconds{micro};
}

std::string to_date(Time time) { return to_rfc3339(time).substr(0, 10); }

std::int64_t to_us(Time time) { return time.time_since_epoch().count(); }
Time from_us(std::int64_t microseconds) { return Time{chrono::microseconds{microseconds}}; }

Time SystemClock::now() const {
  return chrono::time_point_cast<chrono::microseconds>(chrono::system_clock::now());
}

}  // namespace nightjar
