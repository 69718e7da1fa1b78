// One run's value in a series, from its samples: for storage, and for measuring by hand.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "storage/model/job.hpp"

namespace nightjar {

// The latencies of the iterations that count: those that waited for a CPU at most 1 % of their time
// and beside which fixed work was at most 1.25 times as slow as at its best. Empty if these are
// fewer than five and fewer than half of a run that was probed: it never saw the machine
// undisturbed. A run that was not probed counts as a whole then.
std::vector<double> undisturbed_latency(const RunResult& run);

// Of what the build or the workload did, not of an environment that could not be had.
bool is_failure(RunStatus status);

// Of latency the first decile of the iterations that count: what disturbs only ever slows down, and
// some of it falls between two probes. On a shared host runs of one build varied by 3 to 6 % so,
// their medians by 17 %. Of any other metric the median; of failures see model/metric.hpp. nullopt
// without a finite sample that counts. Refused: the mean (outliers), the minimum (verdicts change
// with the number of iterations).
std::optional<double> value_of(const RunResult& run, std::string_view metric);

// The share of the measured latency that was spent waiting for a CPU; 0 if it was not recorded.
double wait_share_of(const RunResult& run);

}  // namespace nightjar
