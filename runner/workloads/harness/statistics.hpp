// The statistics that the harness itself needs.
#pragma once

#include <cstdint>
#include <vector>

namespace nightjar::workloads {

// The median of at least one value.
double median(std::vector<double> values);

// The Theil-Sen slope (median over all pairs) in bytes an iteration. One jump of the allocator does
// not move it. Uses at most 200 evenly spaced points, so 20,000 pairs.
double leak_slope(const std::vector<std::int64_t>& resident);

}  // namespace nightjar::workloads
