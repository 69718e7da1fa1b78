// `nightjar-runner measure`: a local session of workloads, in a Python that is at hand.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "runner/catalog/external.hpp"
#include "runner/format/measurement.hpp"
#include "runner/run/local_session.hpp"
#include "storage/model/job.hpp"

namespace nightjar::runner {

struct MeasureConfig {
  LocalPaths paths;
  int runs = 5;
  std::optional<double> minutes;  // after which no run begins
  RunLimits limits;
  Externals externals;
};

struct ChosenWorkload {
  CatalogEntry workload;
  int priority = 0;
  bool listed = true;  // false: nothing here can run it
};

// Returns the order of runs of workloads that are given by their priorities. Those of the highest
// priority take turns until all have `runs`, then those of the next. So what disturbs the machine
// for a while disturbs all alike. Pure.
std::vector<std::size_t> measuring_order(const std::vector<int>& priorities, int runs);

// Measures in that order. When the minutes are used up or a stop is requested, a workload that has
// had a run keeps what it has. Skips the others and records why. A workload at `bmax`
// is measured at the batch size pinned for it on this class of machine, and named so. If there is
// none, a sweep finds it first (runner/run/batch_sweep.hpp). `progress` is told one line before
// each run. Throws std::runtime_error if torch cannot be imported, and Stopped before the first
// run.
Measurement measure(const MeasureConfig& config, const std::vector<ChosenWorkload>& workloads,
                    std::stop_token stop, const std::function<void(const std::string&)>& progress);

}  // namespace nightjar::runner
