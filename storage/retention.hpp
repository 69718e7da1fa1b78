// What may go with time. A run's value in each series stays for ever; its raw samples stay only
// where a verdict, a level or evidence needs them.
#pragma once

#include <vector>

#include "storage/database.hpp"
#include "storage/model/id.hpp"
#include "storage/model/time.hpp"

namespace nightjar::storage {

// The oldest sessions stored before `before` whose samples nobody has dropped; at most `most`.
// Leaves out sessions of imported nights.
std::vector<JobId> sessions_with_old_samples(const Database& db, Time before, int most);

// Drops the raw samples of the session's runs. Keeps all samples of a confirmation or search, those
// of a workload that has a regression in the session's night on its machine class, and those behind
// the newest level of a series. Returns the number of runs without samples now.
int drop_samples(Transaction& transaction, JobId session, Time now);

// Gives at most `pages` free pages at the end of the file back to the disk. Files from before
// version 22 keep theirs and use them again.
void give_back_pages(Database& db, int pages);

}  // namespace nightjar::storage
