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
#include "service/engine/search/search_wheels.hpp"
#include "storage/model/fix.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

// A position of a search on a wheel, as the search numbers them. -1: a builder's, or the only one.
struct Spot {
  int commit = 0, wheel = -1;

  auto operator<=>(const Spot&) const = default;
};

// A step with the builds that it asks for.
struct StepFacts {
  Workload workload;     // with what its runs must give
  std::size_t jobs = 0;  // of this search so far
  bool new_session = false;
  std::vector<Spot> order{};        // of each run
  std::vector<Spot> build_too{};    // worth building meanwhile
  std::vector<Spot> measure_too{};  // each in a session of its own
  std::map<Spot, CommitBuildState> builds{};
  std::map<Spot, Prospect> prospects{};
};
StepFacts load_step(const EngineView& view, const Bisection& bisection, const Workload& workload,
                    const std::vector<Prospect>& prospects, const SearchWheels& wheels,
                    const bisect::Measure& step);

// Sessions to queue, by their commits, wheels to ask builders for, and commits that turned out to
// have no build.
struct PlannedSession {
  std::vector<Spot> runs;  // in order
  int number = 0;          // as the bisection counts
  std::optional<RunnerId> affinity;
};
struct StepPlan {
  std::vector<PlannedSession> sessions;
  std::vector<Spot> builds;
  std::vector<Untestable> untestable;

  bool is_empty() const { return sessions.empty() && builds.empty() && untestable.empty(); }
};
// If a commit of the step's own session has no build, no session is queued: the search then decides
// again without it. If its wheel must be made first, it decides again once a build has ended. Pure.
StepPlan plan_step(const StepFacts& facts, const SearchProgress& progress, Time now);
// Makes the overlays that are missing and queues sessions and builds, in the caller's transaction.
// Throws std::runtime_error if the disk fails.
void queue_step(EngineContext& context, storage::Transaction& transaction,
                const Bisection& bisection, const SearchedChange& change, const Series& series,
                const StepFacts& facts, const StepPlan& plan);

// A session of these runs in order. `environments`: that of each spot.
JobSpec search_spec(const Config& config, const Series& series, const Workload& workload,
                    const std::vector<Spot>& runs,
                    const std::map<Spot, EnvironmentSpec>& environments);
// Says why a search with this budget of measuring time cannot go on; empty: it can.
std::string obstacle_of(const SearchProgress& progress, std::chrono::minutes budget);
// The configuration's, with the threshold of the series, for as many runners of the machine class
// as are there.
bisect::SearchPolicy policy_for(const EngineView& view, MachineId machine, const Series& series);

}  // namespace nightjar::service
