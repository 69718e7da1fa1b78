// Single runs with all raw samples, for REST and evidence.
#pragma once

#include <optional>

#include "storage/database.hpp"
#include "storage/model/job.hpp"
#include "storage/page.hpp"

namespace nightjar::storage {

struct StoredRun {
  RunId id;
  JobId job;
  NightId night;
  BuildId build;        // 0: control
  WorkloadId workload;  // 0: control
  RunResult result;
};
std::optional<StoredRun> find_run(const Database& db, RunId id);
struct RunFilter {
  std::optional<JobId> job;
  std::optional<BuildId> build;
  std::optional<WorkloadId> workload;
};
Page<StoredRun> list_runs(const Database& db, const RunFilter& filter, const PageRequest& page);

}  // namespace nightjar::storage
