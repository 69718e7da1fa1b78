#include "storage/profiles.hpp"

#include "storage/jobs.hpp"
#include "storage/paging.hpp"

namespace nightjar::storage {

Page<Job> list_profiled(const Database& db, const PageRequest& page) {
  Query query("SELECT id FROM job");
  query.where("kind = ?", std::optional(JobKind::profile));
  query.where("state = ?", std::optional(JobState::done));
  return query.page<Job>(db, page,
                         [&](Statement& row) { return *find_job(db, row.next<JobId>()); });
}

}  // namespace nightjar::storage
