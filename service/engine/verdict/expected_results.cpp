#include "service/engine/verdict/expected_results.hpp"

#include <algorithm>
#include <cmath>

#include "storage/marks.hpp"
#include "storage/model/metric.hpp"
#include "storage/runners.hpp"
#include "storage/runs.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

constexpr double passes_a_check = (1 + failed_value) / 2;  // a level below it: most runs passed
constexpr double own_spread = .25;  // of the tolerance, between runs of one build

// Their median, if the runs agree.
std::optional<double> agreed(std::vector<double> checksums, double tolerance) {
  if (checksums.empty()) return std::nullopt;
  std::sort(checksums.begin(), checksums.end());
  const double spread = checksums.back() - checksums.front();
  if (spread > own_spread * tolerance * std::fabs(checksums.back())) return std::nullopt;
  return checksums[checksums.size() / 2];
}

}  // namespace

std::optional<ExpectedResult> expected_result(const EngineView& view, const WorkloadName& name,
                                              int version, MachineId machine,
                                              const std::string& variant, NightId night) {
  const auto workload = storage::find_workload(view.db, name, version);
  if (!workload) return std::nullopt;
  const auto series =
      storage::find_series(view.db, workload->id, failures_metric, machine, variant);
  if (!series) return std::nullopt;
  const NightId marked = storage::marked_until(view.db, *series);
  const auto passed = storage::last_level_up_to(view.db, series->id, passes_a_check, marked, night);
  if (!passed) return std::nullopt;
  const double tolerance = result_tolerance(name);
  const auto checksum =
      agreed(storage::checksums_of(view.db, passed->night, machine, workload->id, passed->build),
             tolerance);
  if (!checksum) return std::nullopt;
  return ExpectedResult{*checksum, tolerance};
}

Workload expecting(const EngineView& view, const Series& series, NightId night) {
  return {series.workload, series.workload_name, series.workload_version,
          expected_result(view, series.workload_name, series.workload_version, series.machine,
                          series.variant, night)};
}

}  // namespace nightjar::service
