// What `measure` found, in the three formats that people and scripts read. Pure.
#pragma once

#include <string>

#include "runner/measure.hpp"

namespace nightjar::runner {

// The contract of docs: {"items": [...]}; one that could not run is an item with its reason.
std::string measurement_json(const Measurement& measurement);
// PyTorch's dynamo runners' columns (latency in ms, memory in GB), with the workload's whole name last.
std::string measurement_csv(const Measurement& measurement);
// Latency for people: batch sizes and backends are columns, reasons stand below.
std::string measurement_table(const Measurement& measurement);

}  // namespace nightjar::runner
