// From a step of the search to jobs: one session, or one a runner where several runners are there,
// and builds for builders.
// Used by the search's steps.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bisect/search.hpp"
#include "service/engine/context.hpp"
#include "service/engine/search/commit_builds.hpp"
#include "service/engine/search/prospects.hpp"
#include "service/engine/search/search_log.hpp"
#include "storage/model/fix.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

// A step with the builds that it asks for, by commit.
struct StepFacts {
  bisect::Measure step;
  Workload workload;  // with what its runs must give
  std::map<int, CommitBuildState> builds;
  std::map<int, Prospect> prospects;
  std::size_t jobs = 0;  // of this search so far
};
StepFacts load_step(const EngineView& view, const Bisection& bisection, const Workload& workload,
                    const std::vector<Prospect>& prospects, const bisect::Measure& step);

// Sessions to queue, by their commits, wheels to ask builders for, and commits that turned out to
// have no build.
struct PlannedSession {
  std::vector<int> commits;  // of each run, in order
  int number = 0;            // as the bisection counts
  std::optional<RunnerId> affinity;
};
struct StepPlan {
  std::vector<PlannedSession> sessions;
  std::vector<int> builds;
  std::vector<Untestable> untestable;

  bool is_empty() const { return sessions.empty() && builds.empty() && untestable.empty(); }
};
// If a commit of the step's own session has no build, no session is queued: the search then decides
// anew without it. If its wheel must be made first, it decides anew once a build has ended. Pure.
StepPlan plan_step(const StepFacts& facts, const SearchProgress& progress, Time now);
// Makes the overlays that are missing and queues sessions and builds, in the caller's transaction.
// Throws std::runtime_error if the disk fails.
void queue_step(EngineContext& context, storage::Transaction& transaction,
                const Bisection& bisection, const SearchedChange& change, const Series& series,
                const StepFacts& facts, const StepPlan& plan);

// A session that runs these positions of a search in order. `environments`: that of each position.
JobSpec search_spec(const Config& config, const Series& series, const Workload& workload,
                    const std::vector<int>& commits,
                    const std::map<int, EnvironmentSpec>& environments);
// Why a search cannot go on that may measure for so long; empty: it can.
std::string obstacle_of(const SearchProgress& progress, std::chrono::minutes budget);
// The configuration's, with the threshold of the series, for as many runners of the machine class
// as are there.
bisect::SearchPolicy policy_for(const EngineView& view, MachineId machine, const Series& series);

}  // namespace nightjar::service
