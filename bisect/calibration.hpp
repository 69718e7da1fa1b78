// What cases of known truth say of the rules. Pure; used by the service's calibration.
#pragma once

#include "bisect/detection.hpp"
#include "bisect/statistics.hpp"

namespace nightjar::bisect {

// Clopper and Pearson's interval of a probability after `hits` of `cases`; [0, 1] without cases.
// Throws std::invalid_argument unless 0 <= hits <= cases.
Interval binomial_interval(int hits, int cases, double confidence);

// The smallest worsening that would be flagged with probability .9 on its first night, for single
// runs of this sd (of logs) and `runs` of them a night: what the screen and the last rung of the
// confirmation can tell from the threshold, by their normal errors.
double smallest_seen(double sd, int runs, const DetectionPolicy& policy);

}  // namespace nightjar::bisect
