// Numbers as a person reads them: ms, MiB, +23 %, 99.6 %. Used by the reports.
#pragma once

#include <string>
#include <string_view>

namespace nightjar::service {

// "latency" -> "latency", "peak_cpu_memory" -> "peak CPU memory".
std::string metric_title(std::string_view metric);

// A value of `metric` with the unit that suits `scale` (values side by side share one): "4.103 ms",
// "231.4 MiB", "12.00 KiB/iteration". An unknown metric has no unit.
std::string quantity(std::string_view metric, double value, double scale);
inline std::string quantity(std::string_view metric, double value) {
  return quantity(metric, value, value);
}

// 1.231 -> "+23 %", 1.042 -> "+4.2 %", .93 -> "-7.0 %", 6.8 -> "×6.8".
std::string change(double ratio);
// Both ends with one decimal: "+21.4 % to +22.0 %".
std::string change_interval(double low, double high);

// What a report says of before and after: change(ratio), or for a metric without a meaningful ratio
// (a leak's slope) the difference, "+1.204 MiB/iteration".
std::string change_of(std::string_view metric, double before, double after, double ratio);
// True for such a metric.
bool has_no_ratio(std::string_view metric);

// A step and its 95 % interval, after / before.
struct StepSize {
  double ratio = 1, low = 1, high = 1;
};
// Converts a step in costs, which a search sees, to one of the metric: the inverse, if the metric
// should be high.
StepSize size_of_step(std::string_view metric, const StepSize& cost);

// .9962 -> "99.6 %". Never "100.0 %" or "0.0 %", which would be a claim: "> 99.9 %", "< 0.1 %".
std::string probability(double value);

}  // namespace nightjar::service
