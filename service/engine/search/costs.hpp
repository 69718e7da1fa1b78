// What each commit of a search costs until it can be measured, in seconds, learned from what was
// seen before. Used by the search's steps.
#pragma once

#include <vector>

#include "bisect/search.hpp"
#include "bisect/search/build_costs.hpp"
#include "service/engine/context.hpp"
#include "service/engine/search/prospects.hpp"
#include "service/engine/search/search_log.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

// What the sessions of a log took.
struct SessionCosts {
  std::vector<double> run_seconds;        // of the series' workload
  std::vector<bisect::PastBuild> set_up;  // environments that were made
};
SessionCosts load_session_costs(const storage::Database& db, const SearchRuns& runs,
                                const Series& series);

struct CostFacts {
  std::vector<Prospect> prospects;  // by position
  std::vector<int> groups;          // by position; -1: of no known native state
  std::vector<bool> is_overlay;     // by position: what is measured is an overlay
  bisect::BuildSeconds expected;    // of each place
  bool warm = false;                // builders have built this recipe before
  double seconds_per_run = 0;
  int builders = 0;          // live ones
  int builds_of_others = 0;  // under way for other searches
};
CostFacts load_costs(const EngineView& view, const Bisection& search, const SearchRuns& runs,
                     const Series& series, std::vector<Prospect> prospects);

// Fills `costs` and `building` of the log, and what the policy says of time, builders and runners
// (as many as `builds_at_once`). What has runs is on the machine already. Pure.
void add_costs(const CostFacts& facts, Time now, bisect::SearchLog& log,
               bisect::SearchPolicy& policy);

}  // namespace nightjar::service
