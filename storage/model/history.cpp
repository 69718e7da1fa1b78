#include "storage/model/history.hpp"

#include <algorithm>
#include <charconv>

#include "storage/model/text_shape.hpp"

namespace nightjar {
namespace {

// Takes a number and, if there is one, the dot after it.
std::optional<int> take_part(std::string_view& text) {
  int value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  if (text.size() > 1 && text[0] == '.') text.remove_prefix(1);
  return value;
}

}  // namespace

std::optional<Time> time_in_version(std::string_view version) {
  const auto at = version.find(".dev");
  if (at == version.npos || version.size() < at + 12) return std::nullopt;
  const std::string digits(version.substr(at + 4, 8));
  return parse_rfc3339(digits.substr(0, 4) + "-" + digits.substr(4, 2) + "-" + digits.substr(6) +
                       "T00:00:00Z");
}

std::optional<std::vector<int>> release_in_version(std::string_view version) {
  // An import names a build without a date by its time: 20260820.073000+2.9.1.
  constexpr std::string_view stamp = "00000000.000000+";
  if (has_shape(version.substr(0, stamp.size()), stamp))
    version.remove_prefix(stamp.size());
  else if (has_shape(version, stamp.substr(0, stamp.size() - 1)))
    return std::nullopt;
  if (version.starts_with('v')) version.remove_prefix(1);
  const auto plus = version.find('+');
  if (plus != version.npos && version.substr(plus).starts_with("+git")) return std::nullopt;
  version = version.substr(0, plus);
  std::vector<int> numbers;
  while (!version.empty()) {
    if (!numbers.empty() && version.starts_with("post")) version.remove_prefix(4);
    const auto number = take_part(version);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers.size() > 1 ? std::optional(std::move(numbers)) : std::nullopt;
}

std::optional<std::string> future_in(const HistoryNight& night, Time now) {
  const auto built = time_in_version(night.version);
  const Time latest = std::max(night.measured_at, built.value_or(night.measured_at));
  if (latest <= now + clocks_differ) return std::nullopt;
  return "its time or the date in its version, " + to_date(latest) + ", is yet to come";
}

}  // namespace nightjar
