// Measured workloads for people, on a terminal of 100 columns. Pure.
#pragma once

#include <string>

#include "runner/format/suite_result.hpp"

namespace nightjar::runner {

// Models of one variant a line each, with latency, memory and compile time beside them; the others
// in tables a metric with batch sizes and backends as columns, as many as the width holds. OOM: out
// of memory. Why something was not measured stands below.
std::string measurement_table(const SuiteResult& result);

}  // namespace nightjar::runner
