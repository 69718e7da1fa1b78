// Jobs as people look for them: by every column that the page and REST filter by, and what REST
// says of a job beside the job itself.
#pragma once

#include <optional>
#include <string>

#include "storage/database.hpp"
#include "storage/model/job.hpp"
#include "storage/page.hpp"

namespace nightjar::storage {

struct JobSearch {
  std::optional<JobState> state = {};
  std::optional<NightId> night = {};
  std::optional<MachineId> machine = {};
  std::optional<std::string> variant = {};  // of its builds
  std::optional<FactsId> facts = {};        // of the machine that measured it
};
Page<Job> search_jobs(const Database& db, const JobSearch& search, const PageRequest& page);

// Of its builds; nullopt: it has none that is stored, or it ended before variants were kept.
std::optional<std::string> variant_of_job(const Database& db, JobId id);

}  // namespace nightjar::storage
