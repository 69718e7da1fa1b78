// Sessions that profiled workloads, for those who show them. What they found out is in
// sessions.hpp.
#pragma once

#include "storage/database.hpp"
#include "storage/model/domain.hpp"
#include "storage/model/job.hpp"
#include "storage/page.hpp"

namespace nightjar::storage {

// Sessions of profiles that have ended with a result and have a profile.
Page<Job> list_profiled(const Database& db, const WorkloadFilter& filter, const PageRequest& page);

}  // namespace nightjar::storage
