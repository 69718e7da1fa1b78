// Drops raw samples that nothing rests on any more, a few sessions a tick, so that a database does
// not grow for ever and no write holds up a runner.
#pragma once

#include <vector>

#include "service/engine/context.hpp"

namespace nightjar::service {

// Sessions of which the samples are older than [service] samples_days; none where that is 0.
std::vector<JobId> load_old_samples(const EngineView& view);
// True if there were any.
bool drop_old_samples(EngineContext& context);

}  // namespace nightjar::service
