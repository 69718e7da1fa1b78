// A commit that had no build gets one: a wheel of its native group appears, or a builder that can
// make it. Then an open search may ask for it, and a search that had ended with a range goes on
// from its log.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "service/engine/context.hpp"
#include "storage/model/build.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

// A search with commits that had no build, as it stands now.
struct SearchToRevive {
  Bisection search;
  std::optional<Regression> regression;  // nullopt: it is the search of a fix
  std::set<CommitSha> range;             // of the ranges that it ended with
  std::vector<int> testable;  // positions of commits that had no build and can have one now
};
struct Revival {
  std::vector<int> commits;  // may be asked again
  bool reopens = false;      // the search had ended
};
std::vector<SearchToRevive> load_revivals(const EngineView& view);
// nullopt: nothing changes. A search that ended is taken up only for a commit of its range, and
// only while its regression stands: one that has recovered needs no culprit any more.
std::optional<Revival> decide(const SearchToRevive& seen);

// True if a commit became testable.
bool revive_searches(EngineContext& context);

// Wheels that such commits wait for and whose files are not here any more.
std::vector<Build> lost_wheels(const EngineView& view);

}  // namespace nightjar::service
