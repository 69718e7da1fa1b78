// The rungs of a confirmation: how many runs a side it takes before it is judged again. Internal to
// detection and to the evidence that a fleet asks for.
#pragma once

#include <span>

#include "storage/model/metric.hpp"

namespace nightjar::bisect {

std::span<const int> ladder(Repeatability repeatability);

}  // namespace nightjar::bisect
