// The search for the culprit of each confirmed regression, one step a job: the log of runs is all
// its state, so that a killed daemon goes on where it was.
#pragma once

#include "service/engine/context.hpp"

namespace nightjar::service {

// Opens a search for the clearest confirmed regression of each night and machine class that has
// none running: the others then start from what it found.
bool start_bisections(EngineContext& context);
// Takes each open search one step on, or ends it.
bool advance_bisections(EngineContext& context);

}  // namespace nightjar::service
