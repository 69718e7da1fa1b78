// Which numbers can have been measured. Used by a runner to check its workloads, and by the service
// to check its runners.
#pragma once

#include "storage/model/metric.hpp"

namespace nightjar {

// False for a value that is not finite, absurdly large, or negative where less than nothing is
// impossible. No latency is zero.
bool is_possible(const Metric& metric, double value);
bool is_possible_duration(double seconds);

}  // namespace nightjar
