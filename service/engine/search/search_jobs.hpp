// From a step of the search to jobs: one session, or one a runner where several runners are there,
// and builds for builders.
// Used by the search's steps.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
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

// Whose sessions are queued.
struct SessionsOf {
  std::string search;  // the beginning of their jobs' keys
  NightId night;
  MachineId machine;
  int priority = 0;
  std::function<void(const BisectionJob&)> note;  // stores that the job is the search's
};
// Queues the plan's sessions, in the caller's transaction. `environments`: that of each spot.
void queue_sessions(EngineContext& context, storage::Transaction& transaction, const SessionsOf& of,
                    const Series& series, const StepFacts& facts, const StepPlan& plan,
                    const std::map<Spot, EnvironmentSpec>& environments);

struct GiveUp {
  std::string reason;
};
// What a search does next, by its log.
struct NextOfSearch {
  std::variant<GiveUp, bisect::Answer, bisect::Measure> step;
  bisect::Belief belief;
};
// Sets the counts of `search`, and unless it gives up, its belief. `budget`: of measuring time.
// Pure.
NextOfSearch next_of(SearchTally& search, const bisect::SearchLog& log,
                     const bisect::SearchPolicy& policy, const SearchProgress& progress,
                     std::chrono::minutes budget);
// The configuration's, with the threshold of the series, for as many runners of the machine class
// as are there.
bisect::SearchPolicy policy_for(const EngineView& view, MachineId machine, const Series& series);

}  // namespace nightjar::service
