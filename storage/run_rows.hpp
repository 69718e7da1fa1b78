// Rows of `run` into values. Private to this folder.
#pragma once

#include "storage/runs.hpp"
#include "storage/statement.hpp"

namespace nightjar::storage {

#define RUN_COLUMNS                                                                         \
  "run.id, run.job, (SELECT night FROM job WHERE id = run.job), run.build, run.workload, "  \
  "run.position, run.status, run.reason, run.cpu_seconds, run.wait_seconds, run.slowdown, " \
  "run.checksum, run.warmup_iterations, run.started_at_us, run.seconds, "                  \
  "run.expected_checksum, run.tolerance"

// Reads the run's samples with a statement of its own.
StoredRun read_run(const Database& db, Statement& row);

}  // namespace nightjar::storage
