#include "runner/format/run_summary.hpp"

#include <cmath>
#include <optional>

#include "bisect/statistics.hpp"
#include "storage/model/run_value.hpp"

namespace nightjar::runner {
namespace {

// As people publish it: the middle of the iterations, of latency the undisturbed ones while there
// are any.
std::optional<double> location_of(const RunResult& run, const std::string& metric) {
  const auto found = run.samples.find(metric);
  if (found == run.samples.end() || found->second.empty()) return std::nullopt;
  const auto undisturbed = metric == "latency" ? undisturbed_latency(run) : std::vector<double>{};
  return bisect::hodges_lehmann(undisturbed.empty() ? found->second : undisturbed);
}

}  // namespace

Summary summarize(const std::vector<RunResult>& runs, const std::string& metric) {
  std::vector<double> values;
  for (const auto& run : runs)
    if (const auto value = location_of(run, metric)) values.push_back(*value);
  if (values.empty()) return {};
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
