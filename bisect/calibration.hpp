// What cases with a known truth say about the rules. Pure; used by the service's calibration.
#pragma once

#include <cstdint>
#include <vector>

#include "bisect/detection.hpp"
#include "bisect/statistics.hpp"

namespace nightjar::bisect {

// Clopper and Pearson's interval of a probability after `hits` in `cases`; [0, 1] without cases.
// Throws std::invalid_argument unless 0 <= hits <= cases.
Interval binomial_interval(std::int64_t hits, std::int64_t cases, double confidence);

// The smallest worsening that is flagged with probability .9 on its first night. `sd` is that of
// single runs, on logs; `runs` is their number a night. The screen and the last rung of the
// confirmation count, with normal errors. The night's bar is left out: a change of this size meets
// it.
double smallest_seen(double sd, int runs, const DetectionPolicy& policy);

// The median of some values, and its 95 % interval by order statistics, which assumes nothing about
// their distribution. With fewer than 6 values the interval is their range, which covers less.
struct Typical {
  int values = 0;
  double median = 0, low = 0, high = 0;
};
Typical typical(std::vector<double> values);  // throws std::invalid_argument without values

}  // namespace nightjar::bisect
