// Whether a result can be what its job asked for. Used before it is stored.
#pragma once

#include <string>

#include "storage/model/job.hpp"

namespace nightjar::service::api {

// Says what cannot be and in which run; empty if all can. That is a number which nobody can have
// measured, or an environment that is not the job's: then the result is of another build.
std::string impossible_in(const JobSpec& spec, const SessionResult& result);

}  // namespace nightjar::service::api
