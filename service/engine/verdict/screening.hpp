// Stage one of a night's verdicts: every judged series against its accepted level.
#pragma once

#include <string>
#include <vector>

#include "service/engine/context.hpp"
#include "storage/model/job.hpp"
#include "storage/model/night.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

// Accepts levels, records improvements, and opens suspected regressions from the runs of the usable
// sessions. Where most series of a metric moved together on a machine class only the clearest are
// opened and the others held back: see release_held(). Runs inside the caller's transaction;
// running it again changes nothing. Returns a sentence about what was held back, or nothing.
std::string screen_night(EngineContext& context, const Night& night,
                         const std::vector<Job>& usable);

// After stage two: series that were held back, of a group none of whose suspects was confirmed,
// moved with the machine. Their levels begin anew with this night, by a mark that says so.
// Otherwise they keep their old level, and the next night looks at them again. In the caller's
// transaction.
void release_held(EngineContext& context, const Night& night, const std::vector<Job>& usable);

}  // namespace nightjar::service
