// Which sessions were asked for to compare two builds side by side.
#pragma once

#include <vector>

#include "storage/database.hpp"
#include "storage/model/job.hpp"

namespace nightjar::storage {

// What one confirmation compares. All series of the workload share its sessions. `round` counts
// from 1: a confirmation that was cut short starts the next round.
struct Comparison {
  NightId night;
  MachineId machine;
  WorkloadId workload;
  BuildId good, bad;
  int round = 1;
};

void add_confirmation_job(Transaction& transaction, JobId job, const Comparison& comparison);
// Returns the jobs in order, without repeats of void sessions.
std::vector<Job> jobs_of_comparison(const Database& db, const Comparison& comparison);

}  // namespace nightjar::storage
