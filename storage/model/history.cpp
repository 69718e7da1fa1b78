#include "storage/model/history.hpp"

#include <algorithm>

namespace nightjar {

std::optional<Time> time_in_version(std::string_view version) {
  const auto at = version.find(".dev");
  if (at == version.npos || version.size() < at + 12) return std::nullopt;
  const std::string digits(version.substr(at + 4, 8));
  return parse_rfc3339(digits.substr(0, 4) + "-" + digits.substr(4, 2) + "-" + digits.substr(6) +
                       "T00:00:00Z");
}

std::optional<std::string> future_in(const HistoryNight& night, Time now) {
  const auto built = time_in_version(night.version);
  const Time latest = std::max(night.measured_at, built.value_or(night.measured_at));
  if (latest <= now + kClocksDiffer) return std::nullopt;
  return "its time or the date in its version, " + to_date(latest) + ", is yet to come";
}

}  // namespace nightjar
