// Measured workloads as TorchBench's userbenchmarks write them (metrics-*.json): for its regression
// detector, and for `nightjar compare`. Pure.
#pragma once

#include <string>

#include "runner/format/suite_result.hpp"

namespace nightjar::runner {

// {"name": "torch-nightly", "environ": {...}, "metrics": {"test_eval[resnet50-cuda-eager]_latency":
// ms,
// ..._cmem: GB, ..._gmem: GB}}. A model of ours is called suite/model-bN, one of TorchBench has
// its own name, and a precision other than fp32 follows. What was not measured is left out.
std::string torchbench_metrics_json(const SuiteResult& result);

}  // namespace nightjar::runner
