// Which numbers can have been measured. Used by a runner to check its workloads, and by the service
// to check its runners.
#pragma once

#include "storage/model/metric.hpp"

namespace nightjar {

// False for a value that is not finite, absurdly large or small, or negative where less than
// nothing is impossible. No latency is zero.
bool is_possible(const Metric& metric, double value);
bool is_possible_duration(double seconds);
// Whether a metric may be called so, one of ours or a program's own: a letter, then letters,
// digits,
// '_', '-' and '.', at most 100 in all.
bool is_metric_name(std::string_view name);

}  // namespace nightjar
