#include "storage/chosen_workloads.hpp"

#include "storage/runners.hpp"

namespace nightjar::storage {

std::optional<std::string> workloads_that_match(const Database& db, const WorkloadFilter& filter) {
  if (filter == WorkloadFilter{}) return std::nullopt;
  std::string ids;
  for (const Workload& workload : all_workloads(db))
    if (matches(filter, workload.name))
      ids += (ids.empty() ? "[" : ",") + std::to_string(workload.id.value);
  return ids.empty() ? "[]" : ids + "]";
}

}  // namespace nightjar::storage
