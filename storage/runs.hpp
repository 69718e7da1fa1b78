// Single runs with all raw samples, for REST and evidence.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

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
// Returns the checksums of the night's screening runs that were measured, of one workload on one
// build and machine class.
std::vector<double> checksums_of(const Database& db, NightId night, MachineId machine,
                                 WorkloadId workload, BuildId build);
// The run's value in each series that has one, by metric. They stay when its samples are dropped.
std::map<std::string, double> values_of_run(const Database& db, RunId id);
// If a night ran workloads and all its runs ended alike, as `broken_environment` or `unavailable`:
// what the first one said.
std::optional<std::string> why_all_ended(const Database& db, NightId night, RunStatus as);
struct RunFilter {
  std::optional<JobId> job;
  std::optional<BuildId> build;
  std::optional<WorkloadId> workload;
  template <class Where>
  void conditions(Where where) const {
    where("run.job = ?", job);
    where("run.build = ?", build);
    where("run.workload = ?", workload);
  }
};
Page<StoredRun> list_runs(const Database& db, const RunFilter& filter, const PageRequest& page);

}  // namespace nightjar::storage
