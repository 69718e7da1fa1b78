// Measured workloads in the terms of PyTorch's benchmarks/dynamo: one row for each workload with
// its speed-up over eager, compile time and memory, and the CSV files that dynamo's scripts read.
// Pure; see docs/formats.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runner/format/suite_result.hpp"

namespace nightjar::runner {

struct DynamoRow {
  WorkloadName workload;
  Accuracy accuracy = Accuracy::pass;
  bool measured = false;
  std::optional<double> speedup;            // over eager: > 1 is faster
  std::optional<double> latency_ms;         // of the backend's iteration
  std::optional<double> compile_seconds;    // compilation_latency
  std::optional<double> compression_ratio;  // eager's peak / the backend's: > 1 is less memory
  std::optional<double> eager_peak_gb, peak_gb;
  std::optional<double> calls_captured, unique_graphs, graph_breaks;
};

// Returns a row for every item, in order. The speed-up is the metric `speedup`, measured in turns
// with eager in one process; without it, the ratio to the eager item of the same model and batch.
// An eager item is its own reference.
std::vector<DynamoRow> dynamo_rows(const SuiteResult& result);

// Returns the performance file. A model with compiled items has no row for its eager one, since
// dynamo's scripts find models by name. What failed has batch, speed-up and latency 0, as dynamo
// has it. An empty cell was not measured. The last column is the workload's whole name.
std::string performance_csv(const std::vector<DynamoRow>& rows);
// Returns the accuracy file.
std::string accuracy_csv(const std::vector<DynamoRow>& rows);

}  // namespace nightjar::runner
