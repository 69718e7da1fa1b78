#include "storage/model/possible.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace nightjar {
namespace {

// Far above what anybody measures, and far below what breaks a computation.
constexpr double most_seconds = 1e7, most_allowed = 1e15;
// Far below what a clock or a ratio of two times can tell from nothing.
constexpr double least_seconds = 1e-12, least_ratio = 1e-6;
constexpr std::size_t longest_metric_name = 100;

bool is_between(double value, double least, double most) {
  return std::isfinite(value) && value >= least && value <= most;
}

}  // namespace

bool is_possible(const Metric& metric, double value) {
  if (metric.name == "latency" && value == 0) return false;
  if (metric.unit == "s")
    return is_possible_duration(value) && (value == 0 || value >= least_seconds);
  if (metric.unit == "times eager")
    return value == 0 || is_between(value, least_ratio, most_allowed);
  const bool grows_and_shrinks = metric.unit == "bytes/iteration";
  return is_between(value, grows_and_shrinks ? -most_allowed : 0, most_allowed);
}

bool is_possible_duration(double seconds) {
  return is_between(seconds, 0, most_seconds);
}

bool is_metric_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto may_follow = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
  };
  return !name.empty() && name.size() <= longest_metric_name && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), may_follow);
}

}  // namespace nightjar
