// The search for the culprit of each confirmed regression, and for the commit of each fix, one step
// a job: the log of runs is all its state, so that a killed daemon goes on where it was.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "bisect/evidence/naming.hpp"
#include "bisect/search.hpp"
#include "service/engine/context.hpp"
#include "service/engine/search/limits.hpp"
#include "service/engine/search/prospects.hpp"
#include "service/engine/search/search_jobs.hpp"
#include "service/engine/search/search_log.hpp"
#include "service/engine/search/search_wheels.hpp"
#include "storage/model/fix.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

// Regressions that wait for a search, and those that hold up their night's.
struct WaitingFacts {
  std::vector<Regression> confirmed, suspected, bisecting;
};
WaitingFacts load_waiting(const EngineView& view);
// The clearest confirmed one of each night and machine class on which nothing is suspected or
// searched. The others then start from what its search found. Pure.
std::vector<Regression> next_to_search(const WaitingFacts& facts);

struct OpeningFacts {
  Regression regression;
  std::optional<BuildId> held;                    // the bad wheel with the good one's packages
  std::optional<CommitSha> good;                  // commit of the good end
  std::optional<std::vector<CommitSha>> commits;  // after it, up to the bad end; nullopt: no range
};
OpeningFacts load_opening(const EngineView& view, const Regression& regression);
struct OpenSearch {
  Bisection search;
};
struct CannotSearch {
  std::string reason;
};
std::variant<OpenSearch, CannotSearch> decide(const OpeningFacts& facts, Time now);
bool start_bisections(EngineContext& context);

// All that the next step of an open search depends on. `log` is in cost.
struct SearchFacts {
  Bisection search;
  std::variant<Regression, FixSearch> of;  // what it explains
  SearchedChange change;                   // the same
  Series series;
  SearchLimits limits;
  // A session is under way, an end's wheel is being fetched, or regressions go first. What follows
  // is then not read.
  bool pending = false;
  std::vector<RunId> runs;
  bisect::SearchLog log;
  SearchProgress progress;
  SearchWheels wheels;      // as the log numbers them
  evidence::Naming naming;  // what tells a culprit from a range
  bisect::SearchPolicy policy;
  std::vector<Prospect> prospects;  // by position
  std::set<int> awaited;            // positions of which CI may have a wheel
  bool awaits_bridges = false;      // CI may have a wheel that tells wheels from commits
};
std::optional<SearchFacts> load_search(const EngineView& view, const Bisection& search);
// The same as if these were the search's limits.
std::optional<SearchFacts> load_search(const EngineView& view, const Bisection& search,
                                       const SearchLimits& limits);

struct Conclude {
  bisect::Answer answer;
  Evidence evidence;
};
// The answer would be a range, and an answer of CI may narrow it.
struct AwaitCi {
  int commits = 0;
};
// `search` holds the counts and the belief so far.
struct SearchStep {
  Bisection search;
  std::variant<GiveUp, Conclude, AwaitCi, bisect::Measure> step;
};
// nullopt: it waits.
std::optional<SearchStep> decide(const SearchFacts& facts);
// Takes each open search one step on, or ends it.
bool advance_bisections(EngineContext& context);

}  // namespace nightjar::service
