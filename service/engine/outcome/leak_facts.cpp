#include "service/engine/outcome/leak_facts.hpp"

#include <string_view>
#include <vector>

#include "bisect/statistics.hpp"
#include "storage/many_series.hpp"
#include "storage/model/metric.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

// The slope of the memory that a metric is of; empty: it is of none.
std::string_view slope_of(std::string_view metric) {
  if (metric == "peak_cpu_memory" || metric == "peak_memory" || metric == "leaked_memory")
    return "leaked_memory";
  const bool gpu = metric == "peak_gpu_memory" || metric == "peak_gpu_memory_reserved" ||
                   metric == "leaked_gpu_memory";
  return gpu ? "leaked_gpu_memory" : "";
}

std::vector<double> slopes(const EngineView& view, const Series& series, BuildId build,
                           NightId night) {
  std::vector<double> values;
  for (const SeriesRun& run :
       storage::runs_of_build(view.db, series.id, build, night, JobKind::confirm))
    values.push_back(run.value);
  return values;
}

}  // namespace

std::optional<ReportLeak> leak_facts(const EngineView& view, const Regression& regression) {
  const auto lead = storage::find_series(view.db, regression.series.front().series);
  const std::string_view name = lead ? slope_of(lead->metric) : "";
  const Metric* slope = find_metric(name);
  if (!slope) return std::nullopt;
  const auto series =
      storage::find_series(view.db, lead->workload, name, lead->machine, lead->variant);
  if (!series) return std::nullopt;
  const auto good = slopes(view, *series, regression.good, regression.night);
  const auto bad = slopes(view, *series, regression.bad, regression.night);
  if (good.empty() || bad.empty()) return std::nullopt;
  const bisect::Difference grown = bisect::difference(good, bad, .95);
  if (grown.low <= 0 || grown.value < slope->least_change) return std::nullopt;
  return ReportLeak{series->metric, grown.value, grown.low, grown.high};
}

}  // namespace nightjar::service
