// What a comparison could have seen: for those who are told that nothing changed. Pure; used by
// `nightjar bisect run`.
#pragma once

#include "bisect/statistics.hpp"

namespace nightjar::bisect {

// The smallest ratio over 1 whose interval by shift() would have excluded 1 with probability
// `power`. It is meant for as many runs a side that scatter alike. `seen` is what shift() said of
// those runs at `confidence`. The standard error follows from the interval's width by Student's t.
// The power follows from the normal approximation for the Wilcoxon test (Lehmann, Nonparametrics,
// 1975, section 2.3). It is widened, because the noise is itself known from those few runs only.
// Simulated with 5 to 40 runs a side: .88 to .92 are seen where .9 was asked for. 1 where no run
// differs from another. Throws std::invalid_argument for fewer than two runs a side.
double smallest_seen(const Ratio& seen, int runs_before, int runs_after, double confidence,
                     double power);

}  // namespace nightjar::bisect
