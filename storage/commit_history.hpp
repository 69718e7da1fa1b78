// What is stored of one commit, for the page about it.
#pragma once

#include <vector>

#include "storage/database.hpp"
#include "storage/model/build.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::storage {

// Newest first.
std::vector<Build> builds_of_commit(Database& db, const CommitSha& commit);
// The newest searches in whose range it lies, at most `count`, newest first.
std::vector<Bisection> bisections_of_commit(Database& db, const CommitSha& commit, int count);

}  // namespace nightjar::storage
