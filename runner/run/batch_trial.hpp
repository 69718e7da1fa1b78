// One step of a sweep of batch sizes (runner/run/batch_sweep.hpp) on this machine, for `measure`.
#pragma once

#include <stop_token>

#include "runner/run/batch_sweep.hpp"
#include "runner/run/executor.hpp"

namespace nightjar::runner {

// A session of one short run, kept from taking all of the machine's memory. It is repeated a few
// times if the run was disturbed throughout. Throws Stopped.
BatchPoint try_batch(const CatalogEntry& entry, int batch, RunLimits limits, Executor& executor,
                     std::stop_token stop);

}  // namespace nightjar::runner
