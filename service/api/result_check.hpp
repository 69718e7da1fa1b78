// Whether a result can be what its job asked for, and a run something that was measured. Used
// before it is stored.
#pragma once

#include <string>

#include "storage/model/job.hpp"

namespace nightjar::service::api {

// Says which number of a run nobody can have measured, or which name no metric has; empty if all
// can be.
std::string impossible_in(const RunResult& run);
// Says what cannot be of the session around its runs; empty if all can. An environment that is not
// the job's makes it a result of another build.
std::string impossible_in(const JobSpec& spec, const SessionResult& result);

}  // namespace nightjar::service::api
