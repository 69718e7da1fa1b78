// Where the time went at both sides of a blamed commit: one more session before the report, in
// which nothing is measured. Used by reporting.
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "bisect/profile_diff.hpp"
#include "service/engine/context.hpp"
#include "service/engine/search/commit_builds.hpp"
#include "storage/model/job.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

// A session that profiles both sides; its environments are those of the two builds.
struct BoundaryPlan {
  Job job;
  CommitBuildState good, bad;
};
struct BoundaryFacts {
  Time now{};
  std::optional<Job> asked;          // the session that was asked for
  std::optional<BoundaryPlan> plan;  // nullopt: profiles cannot explain it, or a build is missing
};
BoundaryFacts load_boundary(const EngineView& view, const Regression& regression);

// They are made, cannot be made, or took too long.
struct ProfilesDone {};
struct AwaitProfiles {};
struct AskForProfiles {
  BoundaryPlan plan;
};
struct CancelProfiles {
  JobId job;
};
using BoundaryStep = std::variant<ProfilesDone, AwaitProfiles, AskForProfiles, CancelProfiles>;
BoundaryStep decide(const BoundaryFacts& facts);
// True if the report has nothing to wait for.
bool apply(EngineContext& context, const BoundaryStep& step);

// The session that was asked for, whatever became of it.
std::optional<Job> boundary_session(const storage::Database& db, RegressionId regression);
// Returns the profiles of both sides, the last good build first. nullopt: a side has no profile.
std::optional<std::pair<Profile, Profile>> boundary_profiles(const storage::Database& db,
                                                             const Job& session);
// Returns the difference of the two profiles. nullopt: there is nothing to show.
std::optional<bisect::ProfileDiff> boundary_difference(const EngineView& view,
                                                       const Regression& regression);

}  // namespace nightjar::service
