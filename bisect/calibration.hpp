// What cases with a known truth say about the rules. Pure; used by the service's calibration.
#pragma once

#include "bisect/detection.hpp"
#include "bisect/statistics.hpp"

namespace nightjar::bisect {

// Clopper and Pearson's interval of a probability after `hits` in `cases`; [0, 1] without cases.
// Throws std::invalid_argument unless 0 <= hits <= cases.
Interval binomial_interval(int hits, int cases, double confidence);

// The smallest worsening that is flagged with probability .9 on its first night. `sd` is that of
// single runs, on logs; `runs` is their number a night. The screen and the last rung of the
// confirmation count, with normal errors.
double smallest_seen(double sd, int runs, const DetectionPolicy& policy);

}  // namespace nightjar::bisect
