#include "runner/format/run_summary.hpp"

#include <cmath>

#include "bisect/statistics.hpp"

namespace nightjar::runner {

std::optional<Summary> summarize(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  Summary summary;
  summary.location = bisect::hodges_lehmann(values);
  const auto interval = bisect::hodges_lehmann_interval(values, 0.95);
  summary.low = interval.low;
  summary.high = interval.high;
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  if (values.size() > 1 && mean != 0)
    summary.cv = std::sqrt(squares / static_cast<double>(values.size() - 1)) / std::abs(mean);
  return summary;
}

}  // namespace nightjar::runner
