// Measured workloads as records of PyTorch's benchmark database, schema version 3, which its
// dashboards read. Pure.
#pragma once

#include <string>

#include "runner/format/suite_result.hpp"

namespace nightjar::runner {

// A JSON list with a record for each metric of each workload that ran, one a line.
// `benchmark_values` has one value a run in our unit, since the dashboards average them. The
// uploader adds time, workflow and job. A workload that failed has one record, of the metric
// `failures`.
std::string benchmark_database_json(const SuiteResult& result);

}  // namespace nightjar::runner
