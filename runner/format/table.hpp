// Measured workloads for people, on a terminal of 100 columns. Pure.
#pragma once

#include <string>

#include "runner/format/suite_result.hpp"

namespace nightjar::runner {

// A model of one variant has a line with its latency, memory and compile time. Models of several
// variants have one table for each metric, with batch sizes and backends as columns. OOM is out of
// memory. The reasons of what was not measured stand below.
std::string measurement_table(const SuiteResult& result);

}  // namespace nightjar::runner
