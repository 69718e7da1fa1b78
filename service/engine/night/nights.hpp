// Nights from planning to verdicts: a waiting one takes a build, a measuring one gets its sessions,
// a measured one is screened, a judged one is closed.
#pragma once

#include <string>

#include "service/engine/context.hpp"
#include "storage/model/night.hpp"

namespace nightjar::service {

// Starts a night at its hour (UTC), once a date.
bool start_scheduled_night(EngineContext& context);
// Gives proved builds to waiting nights, or a night of their own; `surveyed`: the builds' source
// was read since the daemon started.
bool assign_builds(EngineContext& context, bool surveyed);
// Plans missing sessions, screens when all are in, closes when nothing is suspected any more.
bool advance_nights(EngineContext& context);

}  // namespace nightjar::service
