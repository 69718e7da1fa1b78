// From a step of the search to jobs: one session, or one a runner where several runners are there.
#pragma once

#include "bisect/search.hpp"
#include "service/engine/context.hpp"
#include "service/engine/search/search_log.hpp"

namespace nightjar::service {

// Queues the step's measurements; a commit that has no build is marked untestable instead.
void queue_step(EngineContext& context, const Bisection& bisection, const Regression& regression,
                const Series& series, const GatheredLog& gathered, const bisect::Measure& step);

// The configuration's, with the threshold of the series, for as many runners of the machine class
// as are there.
bisect::SearchPolicy policy_for(EngineContext& context, MachineId machine, const Series& series);

}  // namespace nightjar::service
