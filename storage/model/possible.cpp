#include "storage/model/possible.hpp"

#include <cmath>

namespace nightjar {
namespace {

// Far above what anybody measures, and far below what breaks a computation.
constexpr double kMostSeconds = 1e7, kMost = 1e15;

bool is_between(double value, double least, double most) {
  return std::isfinite(value) && value >= least && value <= most;
}

}  // namespace

bool is_possible(const Metric& metric, double value) {
  if (metric.name == "latency" && value == 0) return false;
  if (metric.unit == "s") return is_possible_duration(value);
  const bool grows_and_shrinks = metric.unit == "bytes/iteration";
  return is_between(value, grows_and_shrinks ? -kMost : 0, kMost);
}

bool is_possible_duration(double seconds) {
  return is_between(seconds, 0, kMostSeconds);
}

}  // namespace nightjar
