// The values of several runs, summed up.
#pragma once

#include <optional>
#include <vector>

namespace nightjar::runner {

// The Hodges-Lehmann location of the runs' values (storage/model/run_value.hpp) with a 95 %
// interval, and their coefficient of variation (0 for one run).
struct Summary {
  double location = 0, low = 0, high = 0, cv = 0;
};
// nullopt without any value.
std::optional<Summary> summarize(const std::vector<double>& values);

}  // namespace nightjar::runner
