// What a search over recorded runs named, see bisect/replay.hpp, and how sure searches were. Used
// by bisect, storage and service.
#pragma once

#include "storage/model/enum.hpp"

namespace nightjar {

NIGHTJAR_ENUM(ReplayOutcome, exact, innocent, nobody);

// A search said with this probability that a commit made it worse; and whether that is true.
struct Prediction {
  double probability = 0;
  bool right = false;
};

}  // namespace nightjar
