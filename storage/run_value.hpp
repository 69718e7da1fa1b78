// One run's value in a series, from its samples. Private to this folder and its tests.
#pragma once

#include <optional>
#include <string_view>

#include "storage/model/job.hpp"

namespace nightjar::storage {

// The median of the metric's iterations; of latency only those count that waited for a CPU at most
// 1 % of their time (the others were disturbed by the machine), unless fewer than half remain: then
// all. nullopt without a finite sample. Refused: the mean (outliers), the minimum (verdicts change
// with the number of iterations).
std::optional<double> value_of(const RunResult& run, std::string_view metric);

// The share of the measured latency that was spent waiting for a CPU; 0 if it was not recorded.
double wait_share_of(const RunResult& run);

}  // namespace nightjar::storage
