// What the evidence of a search adds that a person had widened. Used when such a search ends.
#pragma once

#include <string>

#include "storage/model/id.hpp"

namespace nightjar::evidence {

// The same evidence with the build that the search began at, which is not the regression's good
// build. `evidence`: of of_search().
std::string with_good_end(const std::string& evidence, BuildId good);

}  // namespace nightjar::evidence
