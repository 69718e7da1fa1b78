// After each night the search is tried on what its series recorded, with a step planted: how often
// it names the right commit here. Costs no measuring.
#pragma once

#include "service/engine/context.hpp"

namespace nightjar::service {

// At most one search a call, which takes tens of milliseconds; a night's series take turns.
void replay_one(EngineContext& context);

}  // namespace nightjar::service
