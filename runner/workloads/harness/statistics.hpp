#pragma once

#include <cstdint>
#include <vector>

namespace nightjar::workloads {

// Of at least one value.
double median(std::vector<double> values);

// Bytes an iteration: the Theil-Sen slope (median over all pairs), which one jump of the allocator
// does not move. At most 200 evenly spaced points, so 20,000 pairs.
double leak_slope(const std::vector<std::int64_t>& resident);

}  // namespace nightjar::workloads
