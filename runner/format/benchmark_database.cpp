#include "runner/format/benchmark_database.hpp"

#include "storage/model/benchmark_record.hpp"
#include "storage/model/metric.hpp"

namespace nightjar::runner {

std::string benchmark_database_json(const SuiteResult& result) {
  std::string records;
  const auto add = [&](const WorkloadName& name, const std::string& metric,
                       const std::vector<double>& values) {
    BenchmarkRecord record{.workload = name, .metric = metric, .values = values};
    record.commit = result.commit;
    record.version = result.version;
    record.machine = result.machine;
    records += (records.empty() ? "\n" : ",\n") + benchmark_record_json(record);
  };
  for (const SuiteItem& item : result.items) {
    if (item.status == RunStatus::unavailable) continue;
    if (item.status != RunStatus::measured) {
      add(item.name, std::string(failures_metric), {1});
      continue;
    }
    for (const auto& [metric, measured] : item.metrics)
      if (!measured.values.empty()) add(item.name, metric, measured.values);
  }
  return "[" + records + "\n]\n";
}

}  // namespace nightjar::runner
