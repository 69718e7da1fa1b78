// Rows of `run` into values. Private to this folder.
#pragma once

#include "storage/runs.hpp"
#include "storage/statement.hpp"

namespace nightjar::storage {

#define RUN_COLUMNS                                                                        \
  "run.id, run.job, (SELECT night FROM job WHERE id = run.job), run.build, run.workload, " \
  "run.position, run.status, run.reason, "                                                 \
  "(SELECT cpu_seconds FROM run_times WHERE run = run.id), "                               \
  "(SELECT wait_seconds FROM run_times WHERE run = run.id), "                              \
  "(SELECT slowdown FROM run_times WHERE run = run.id), "                                  \
  "run.checksum, run.warmup_iterations, run.started_at_us, run.seconds, "                  \
  "run.expected_checksum, run.tolerance, run.accuracy"

// Reads the run's samples with a statement of its own.
StoredRun read_run(const Database& db, Statement& row);

}  // namespace nightjar::storage
