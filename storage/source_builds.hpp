// Wheels asked of builders: the state of each beside its job. Used by the search, which asks, and
// by the agents' protocol, which answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/build.hpp"
#include "storage/model/job.hpp"
#include "storage/model/machine.hpp"
#include "storage/sessions.hpp"

namespace nightjar::storage {

// waiting: queued, being built, or to be built again after a failure of the infrastructure.
NIGHTJAR_ENUM(SourceState, waiting, built, does_not_compile, does_not_import);

struct SourceBuild {
  JobId job;
  Sha256 native_state;
  std::string variant;
  Sha256 recipe_sha256;
  CommitSha commit;
  SourceState state = SourceState::waiting;
  std::optional<BuildId> build;        // once built; it still has to be proved
  std::string reason;                  // of the last failure
  int failures = 0;                    // of the infrastructure
  Time not_before{};                   // nobody claims it earlier
  std::optional<SourceResult> result;  // of the last attempt that answered
};

// Queues a build of `source` for the group (`native_state`, `variant`, the recipe), unless the
// group is asked for already, or this commit of it could not be imported. Returns the group's row,
// or this commit's. A build that was cancelled or given up is queued again. `night` is the night
// that asks.
struct SourceRequest {
  Sha256 native_state;
  std::string variant;
  SourceSpec source;
  NightId night;
  int priority = 0;
  Time now{};
  bool wheel_is_lost = false;  // it was built, and its file is gone: it is built again
};
SourceBuild request_build(Transaction& transaction, const SourceRequest& request);

std::optional<SourceBuild> find_source_build(const Database& db, JobId job);
// What a request for `commit` would be answered with: the commit's own row, else its group's; not
// that of another commit which could not be imported.
std::optional<SourceBuild> find_source_build(const Database& db, const Sha256& native_state,
                                             std::string_view variant, const Sha256& recipe,
                                             const CommitSha& commit);
// The newest job that was asked for a wheel of the commit's native group, whatever the recipe.
std::optional<JobId> build_job_of_commit(const Database& db, const CommitSha& commit);
// Returns the builds that are queued or being built.
std::vector<SourceBuild> source_builds_under_way(const Database& db);
// How many of those are for native groups of this search's commits.
int builds_for_search(const Database& db, BisectionId search);
// The newest results with a wheel by this recipe, the oldest first.
std::vector<SourceResult> results_of_recipe(const Database& db, const Sha256& recipe, int limit);
// One whose wheel is here and is neither proved nor found to be wrong, the oldest first.
std::optional<SourceBuild> unproved_source_build(const Database& db);

// Stores what came of `attempt`. The job is done, unless the infrastructure failed: then it is
// queued again, to be built later and elsewhere. `build` is the build that the wheel becomes; its
// row is added. As for sessions, the latest attempt's result is accepted after its lease ran out,
// too, until somebody claims the job again.
Accepted store_source_result(Transaction& transaction, JobId job, int attempt,
                             const SourceResult& result, const std::optional<Build>& build,
                             Time now);

// Queues the job of `attempt` again after a failure that is not the commit's. Nobody claims it at
// once, and its runner later than others. False if the attempt does not hold the job.
bool put_off_build(Transaction& transaction, JobId job, int attempt, std::string_view reason,
                   Time now);

// Whether this runner takes build jobs: it has the label `build`.
bool is_builder(const Runner& runner);
inline constexpr const char* builder_label = "build";

}  // namespace nightjar::storage
