// Where a commit's build comes from: the ends are nightlies, the commits between are overlays. Used
// by the search's steps and by the profiles of a boundary.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "service/builds/overlay.hpp"
#include "service/engine/context.hpp"
#include "storage/model/build.hpp"
#include "storage/model/job.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

struct CommitBuild {
  BuildId build;
  EnvironmentSpec environment;
};
// It does not exist yet, or its file is gone: then `known` is its row.
struct OverlayToMake {
  OverlayPlan plan;
  std::optional<Build> known;
};
// The commit's own fault.
struct NoBuild {
  std::string reason;
};
using CommitBuildState = std::variant<CommitBuild, OverlayToMake, NoBuild>;
// The build of commit `index` of the bisection, as far as it exists.
CommitBuildState find_commit_build(const EngineView& view, const Bisection& bisection, int index);
// Whether it would cost a build: false for the ends and for what was made before.
bool is_built(const EngineView& view, const Bisection& bisection, int index);

// `state`, made if it does not exist yet; it is no NoBuild. In the caller's transaction. Throws
// std::runtime_error if the disk fails.
CommitBuild made(EngineContext& context, storage::Transaction& transaction,
                 const CommitBuildState& state);

}  // namespace nightjar::service
