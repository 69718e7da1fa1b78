// One step of a sweep of batch sizes (runner/run/batch_sweep.hpp) on this machine.
#pragma once

#include <functional>

#include "runner/run/batch_sweep.hpp"

namespace nightjar::runner {

// Runs a workload once, within these limits. Throws Stopped.
using RunOnce = std::function<RunResult(const CatalogEntry& entry, const RunLimits& limits)>;

// A short run, kept from taking all of the machine's memory. It is repeated a few times if it was
// disturbed throughout.
BatchPoint try_batch(const CatalogEntry& entry, int batch, RunLimits limits, const RunOnce& run);

}  // namespace nightjar::runner
