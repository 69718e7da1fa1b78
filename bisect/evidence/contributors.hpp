// Several small steps as one cause. Used where such a search is filed, and where it is verified.
#pragma once

#include <vector>

#include "storage/model/regression.hpp"

namespace nightjar::evidence {

// All commits of the contributors, with the change that they make together. The steps count as
// independent: probabilities multiply, and the halves of the intervals add in squares of logs.
Culprit together(const std::vector<Culprit>& contributors);

}  // namespace nightjar::evidence
