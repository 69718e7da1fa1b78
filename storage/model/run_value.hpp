// One run's value in a series, from its samples: for storage, and for measuring by hand.
#pragma once

#include <optional>
#include <string_view>

#include "storage/model/job.hpp"

namespace nightjar {

// The median of the metric's iterations; of latency only the undisturbed ones count: those that waited
// for a CPU at most 1 % of their time and beside which fixed work was at most 1.25 times as slow as at
// its best, unless these are fewer than five and fewer than half: then all. nullopt without a finite
// sample. Refused: the mean (outliers), the minimum (verdicts change with the number of iterations).
std::optional<double> value_of(const RunResult& run, std::string_view metric);

// The share of the measured latency that was spent waiting for a CPU; 0 if it was not recorded.
double wait_share_of(const RunResult& run);

}  // namespace nightjar
