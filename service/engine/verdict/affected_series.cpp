#include "service/engine/verdict/affected_series.hpp"

#include <set>

#include "storage/runners.hpp"
#include "storage/series.hpp"

namespace nightjar::service {

std::string class_name(const EngineView& view, MachineId id) {
  std::string text = "machine class " + std::to_string(id.value);
  const auto machine = storage::find_machine(view.db, id);
  if (!machine) return text;
  for (const char* fact : {"imported", "cpu_model"})
    if (const auto found = machine->facts.find(fact); found != machine->facts.end())
      return text + " (" + found->second + ")";
  return text;
}

std::vector<ReportSeries> series_facts(const EngineView& view,
                                       const std::vector<AffectedSeries>& affected,
                                       std::optional<MachineId> beside) {
  std::vector<ReportSeries> list;
  std::vector<MachineId> machines;
  for (const AffectedSeries& one : affected) {
    const auto series = storage::find_series(view.db, one.series);
    if (!series) continue;
    list.push_back({series->workload_name.str(), series->metric, one.before, one.after, one.ratio,
                    one.low, one.high});
    machines.push_back(series->machine);
  }
  std::set<MachineId> classes(machines.begin(), machines.end());
  if (beside) classes.insert(*beside);
  if (classes.size() > 1)
    for (std::size_t i = 0; i < list.size(); ++i) list[i].machine = class_name(view, machines[i]);
  return list;
}

}  // namespace nightjar::service
