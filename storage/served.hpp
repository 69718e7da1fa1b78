// Commits of searches that had no build and may have one now.
#pragma once

#include <string_view>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/id.hpp"
#include "storage/model/time.hpp"

namespace nightjar::storage {

struct SearchedCommit {
  BisectionId bisection;
  int commit = 0;  // index into Bisection::commits
};
// Commits marked `no_build_here`: in open searches, and in those that ended with a range since
// `since`. In order of searches and commits.
std::vector<SearchedCommit> commits_without_build(const Database& db, Time since);
// Returns the commits whose library state a proved wheel of `variant` has.
std::vector<SearchedCommit> commits_with_wheels(const Database& db, std::string_view variant,
                                                int rules, Time since);

}  // namespace nightjar::storage
