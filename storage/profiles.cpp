#include "storage/profiles.hpp"

#include "storage/jobs.hpp"
#include "storage/paging.hpp"

namespace nightjar::storage {

Page<Job> list_profiled(const Database& db, const WorkloadFilter& filter, const PageRequest& page) {
  Query query("SELECT id FROM job");
  // Profiles are few and jobs are many, so it begins with the profiles: hence the plus signs.
  query.where(
      "id IN (SELECT run.job FROM profile CROSS JOIN run ON run.id = profile.run) AND "
      "+kind = ?",
      std::optional(JobKind::profile));
  query.where("+state = ?", std::optional(JobState::done));
  query.where("EXISTS (SELECT 1 FROM run WHERE run.job = job.id AND " IS_AMONG("run.workload") ")",
              workloads_that_match(db, filter));
  return query.page<Job>(db, page,
                         [&](Statement& row) { return *find_job(db, row.next<JobId>()); });
}

}  // namespace nightjar::storage
