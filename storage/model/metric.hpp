// What is measured of a run: name, unit, and which way is worse. Used by every room.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "storage/model/enum.hpp"

namespace nightjar {

// Nothing is judged of a metric whose direction is `unknown`.
NIGHTJAR_ENUM(Direction, lower_is_better, higher_is_better, unknown);

// How a metric repeats: `noisy` needs interleaved runs by the noise of its series; `steady` (peak
// memory, kernels' time) repeats within about 0.6 % and is decided on few runs; `slope`, as also a
// count that should be zero, is near zero when healthy and has no meaningful ratio.
NIGHTJAR_ENUM(Repeatability, noisy, steady, slope);

// Whether a run fails, as a metric that screening, confirmation and search treat like any other: 1
// for a run that was measured, failed_value for one that crashed, timed out, ran out of memory or
// gave a wrong result. That is as far from 1 as an outlier of a latency is, so that a flaky failure
// counts as one.
inline constexpr std::string_view failures_metric = "failures";
inline constexpr double failed_value = 1.25;

struct Metric {
  std::string_view name;
  std::string_view unit;  // "s", "bytes", "bytes/iteration", "times eager", ...
  Direction direction;
  Repeatability repeatability;
  // A smaller change never counts, in the metric's unit. A `slope` has no other threshold, and
  // without this one it is stored and shown, but not judged.
  double least_change = 0;
  // The share that counts as a change; 0: that of the configuration. A metric that repeats much
  // better than latency shows much smaller changes.
  double threshold = 0;
};

// All that docs/glossary.md explains under "metric".
std::span<const Metric> all_metrics();
// nullptr if there is no such metric.
const Metric* find_metric(std::string_view name);
bool is_steady(std::string_view name);

}  // namespace nightjar
