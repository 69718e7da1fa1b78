// What a search over recorded runs named, see bisect/replay.hpp. Used by bisect, storage and
// service.
#pragma once

#include "storage/model/enum.hpp"

namespace nightjar {

NIGHTJAR_ENUM(ReplayOutcome, exact, innocent, nobody);

}  // namespace nightjar
