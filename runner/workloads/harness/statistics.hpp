// The statistics that the harness itself needs.
#pragma once

#include <cstdint>
#include <vector>

namespace nightjar::workloads {

// The median of at least one value.
double median(std::vector<double> values);

// The Theil-Sen slope in bytes an iteration: the median over pairs that are at most a third of the
// run apart. A jump of the allocator in the middle lies between a fifth of these pairs, but between
// half of all pairs. Uses at most 200 evenly spaced points.
double leak_slope(const std::vector<std::int64_t>& resident);

}  // namespace nightjar::workloads
