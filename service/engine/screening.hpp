// Stage one of a night's verdicts: every judged series against its accepted level.
#pragma once

#include <vector>

#include "service/engine/desk.hpp"
#include "storage/model/job.hpp"
#include "storage/model/night.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

// Accepts levels and opens suspected regressions from the runs of the usable sessions. Runs inside the
// caller's transaction; running it again changes nothing.
void screen_night(Desk& desk, const Night& night, const std::vector<Job>& usable);

// Accepted levels of `series` before `night` since its last confirmed regression, newest first.
std::vector<Level> valid_levels(Desk& desk, const Series& series, NightId night);

}  // namespace nightjar::service
