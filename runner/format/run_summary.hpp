// A metric over the runs of `measure`.
#pragma once

#include <string>
#include <vector>

#include "storage/model/job.hpp"

namespace nightjar::runner {

// Each run's Hodges-Lehmann location (of latency: of its undisturbed iterations, see
// storage/model/run_value.hpp), the location of these with a 95 % interval, and the coefficient of
// variation from run to run (0 for one run).
struct Summary {
  double location = 0, low = 0, high = 0, cv = 0;
};
Summary summarize(const std::vector<RunResult>& runs, const std::string& metric);

}  // namespace nightjar::runner
