// The change that a comparison could have detected, for a result "nothing changed". Pure; used by
// `nightjar bisect run`.
#pragma once

#include "bisect/statistics.hpp"

namespace nightjar::bisect {

// The smallest ratio over 1 whose interval by shift() would have excluded 1 with probability
// `power`, for as many runs a side with the same scatter. `seen` is what shift() returned for those
// runs at `confidence`. 1 if no run differs from another.
// The standard error follows from the interval's width by Student's t. The power is the normal
// approximation for the Wilcoxon test (Lehmann, Nonparametrics, 1975, section 2.3), widened because
// the noise is estimated from the same few runs.
// Simulated with 5 to 40 runs a side: .88 to .92 are detected where .9 was asked for.
// Throws std::invalid_argument for fewer than two runs a side.
double smallest_seen(const Ratio& seen, int runs_before, int runs_after, double confidence,
                     double power);

}  // namespace nightjar::bisect
