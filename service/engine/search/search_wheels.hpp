// The wheels that serve a search's commits, and which of them were compiled alike. So the search
// can tell a wheel's effect from a commit's. Used by the search's steps.
#pragma once

#include <vector>

#include "bisect/search.hpp"
#include "service/engine/context.hpp"
#include "service/engine/search/prospects.hpp"
#include "service/engine/search/search_log.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

// The good end's wheel is number 0.
struct SearchWheels {
  std::vector<BuildId> builds;            // by number
  std::vector<int> origins;               // by number
  std::vector<std::vector<int>> serving;  // by position: the numbers of its wheels
  int builder_origin = -1;
  std::vector<int> no_other_wheel;  // positions for which builders can make no further one
};
SearchWheels load_wheels(const EngineView& view, const Bisection& search, const SearchRuns& runs,
                         const SearchProgress& progress);

// Gives the log its wheels, and each run its own. Pure.
void add_wheels(const SearchWheels& wheels, const std::vector<BuildId>& of_runs,
                bisect::SearchLog& log);

}  // namespace nightjar::service
