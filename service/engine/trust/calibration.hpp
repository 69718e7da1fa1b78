// Cases whose truth is known, on a share of every night's time: a build against itself, and a
// slow-down that the harness plants. What comes out is how far this installation's verdicts can be
// trusted.
#pragma once

#include <vector>

#include "service/engine/context.hpp"
#include "storage/model/job.hpp"
#include "storage/model/night.hpp"

namespace nightjar::service {

// Saves the configured share of the night's measuring time and queues as many cases as the savings
// of each machine class pay for; workloads take turns, and so do the two kinds of case. In the
// caller's transaction.
void plan_calibration(EngineContext& context, const Night& night, const std::vector<Job>& usable);
// Judges the cases that were measured, by the rules of stage two.
bool judge_calibrations(EngineContext& context);

}  // namespace nightjar::service
