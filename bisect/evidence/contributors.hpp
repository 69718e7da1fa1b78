// Treats several small steps as one cause. Used when such a search is filed and when it is
// verified.
#pragma once

#include <vector>

#include "storage/model/regression.hpp"

namespace nightjar::evidence {

// All commits of the contributors, with the change that they make together. Assumes that the steps
// are independent: probabilities multiply, and half-widths of intervals add in squares of logs.
Culprit together(const std::vector<Culprit>& contributors);

}  // namespace nightjar::evidence
