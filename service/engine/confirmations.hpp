// Stage two: what the screening suspects is measured again the same night, last good and new build
// interleaved, until the answer is clear. Series of one workload share the sessions.
#pragma once

#include <vector>

#include "service/engine/desk.hpp"
#include "storage/model/job.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

bool advance_confirmations(Desk& desk);

// The sessions that were asked for so far to confirm `regression`, first to last; repeats of void ones
// left out.
std::vector<Job> confirmation_jobs(Desk& desk, const Regression& regression, const Series& lead);

}  // namespace nightjar::service
