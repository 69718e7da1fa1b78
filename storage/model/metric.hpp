// What is measured of a run: name, unit, and which way is worse. Used by every room.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "storage/model/enum.hpp"

namespace nightjar {

NIGHTJAR_ENUM(Direction, lower_is_better, higher_is_better);

// How a metric repeats: `noisy` needs interleaved runs by the noise of its series; `steady` (peak
// memory) repeats within about 0.6 % and is decided on few runs; `slope` is near zero when healthy
// and has no meaningful ratio.
NIGHTJAR_ENUM(Repeatability, noisy, steady, slope);

struct Metric {
  std::string_view name;
  std::string_view unit;  // "s", "bytes", "bytes/iteration"
  Direction direction;
  Repeatability repeatability;
};

// latency, peak_cpu_memory, memory_after_import, leaked_memory, peak_gpu_memory, compile_time.
std::span<const Metric> all_metrics();
// nullptr if there is no such metric.
const Metric* find_metric(std::string_view name);

}  // namespace nightjar
