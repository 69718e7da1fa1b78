#include "storage/model/time.hpp"

#include <cstdio>

#include "storage/model/text_shape.hpp"

namespace nightjar {
namespace chrono = std::chrono;

std::string to_rfc3339(Time time) {
  const auto day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date{day};
  const chrono::hh_mm_ss clock{time - day};
  char text[80];
  const int length =
      std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02ld:%02ld:%02ld", int(date.year()),
                    unsigned(date.month()), unsigned(date.day()), long(clock.hours().count()),
                    long(clock.minutes().count()), long(clock.seconds().count()));
  std::string out(text, static_cast<std::size_t>(length));
  if (const auto fraction = clock.subseconds().count(); fraction != 0) {
    std::snprintf(text, sizeof text, ".%06ld", long(fraction));
    out += text;
  }
  return out + "Z";
}

namespace {

bool starts_with_shape(std::string_view text, std::string_view shape) {
  return has_shape(text.substr(0, shape.size()), shape);
}

// The number of `size` digits at `at`.
int number(std::string_view text, std::size_t at, std::size_t size) {
  int value = 0;
  for (const char c : text.substr(at, size)) value = value * 10 + (c - '0');
  return value;
}

}  // namespace

std::optional<Time> parse_rfc3339(std::string_view text) {
  if (!starts_with_shape(text, "0000-00-00T00:00:00")) return std::nullopt;
  const chrono::year_month_day date{chrono::year{number(text, 0, 4)},
                                    chrono::month(unsigned(number(text, 5, 2))),
                                    chrono::day(unsigned(number(text, 8, 2)))};
  const int hour = number(text, 11, 2), minute = number(text, 14, 2), second = number(text, 17, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  text.remove_prefix(19);
  std::int64_t micro = 0;
  if (starts_with_shape(text, ".0")) {
    text.remove_prefix(1);
    for (std::int64_t unit = 100000; unit > 0 && starts_with_shape(text, "0"); unit /= 10) {
      micro += number(text, 0, 1) * unit;
      text.remove_prefix(1);
    }
  }
  if (text != "Z") return std::nullopt;
  return Time{chrono::sys_days{date}} + chrono::hours{hour} + chrono::minutes{minute} +
         chrono::seconds{second} + chrono::microseconds{micro};
}

std::string to_date(Time time) {
  return to_rfc3339(time).substr(0, 10);
}

std::int64_t to_us(Time time) {
  return time.time_since_epoch().count();
}
Time from_us(std::int64_t microseconds) {
  return Time{chrono::microseconds{microseconds}};
}

Time SystemClock::now() const {
  return chrono::time_point_cast<chrono::microseconds>(chrono::system_clock::now());
}

}  // namespace nightjar
