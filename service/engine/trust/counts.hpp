// What a night adds to the measured false alarm rate, and the smallest change that it could have
// seen. Used by the step of a night that screens.
#pragma once

#include <vector>

#include "service/engine/verdict/screening.hpp"
#include "storage/trust.hpp"

namespace nightjar::service {

// One for each machine class and metric. A series counts if it was held against a level, so that it
// could have been suspected. Pure.
std::vector<Judged> count_judged(const Observations& observed, const ScreeningVerdicts& verdicts,
                                 Time now);

}  // namespace nightjar::service
