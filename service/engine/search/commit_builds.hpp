// Where a commit's build comes from: a wheel of any commit of its native group, with its Python
// files laid over. A commit may have several such wheels. The ends are wheels themselves. All of a
// search is measured with the packages of its good end, so that they cannot differ.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

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
// It does not exist yet, or its file is gone.
struct OverlayToMake {
  OverlayPlan plan;
  std::optional<LockSpec> lock;  // the packages that it is measured with
};
// Says nothing of the commit, only that no place has a build of it now.
struct NoBuild {
  std::string reason;  // what was looked for, and where
};
using CommitBuildState = std::variant<CommitBuild, OverlayToMake, NoBuild>;
// The build of commit `index` of the bisection on this wheel, as far as it exists; without a wheel
// on the one that needs the fewest files, at an end on its own.
CommitBuildState find_commit_build(const EngineView& view, const Bisection& bisection, int index,
                                   std::optional<BuildId> wheel = {});
// The wheels that are here, that the machine class can run and that the commit can be laid over. An
// end's own wheel comes first.
std::vector<Build> wheels_of_commit(const EngineView& view, const Bisection& bisection, int index);
// Whether it would cost a build: false for the ends and for what was made before.
bool is_built(const EngineView& view, const Bisection& bisection, int index);
// Whether a wheel is here that serves it, and that the machine class can run.
bool has_build(const EngineView& view, const Bisection& bisection, int index);
// A wheel of the commit's native group that the machine class can run and whose file is not here
// any more; nullopt if there is no such wheel, or if another wheel will do.
std::optional<Build> lost_wheel(const EngineView& view, const Bisection& bisection, int index);

// `state`, made if it does not exist yet; it is no NoBuild. In the caller's transaction. Throws
// std::runtime_error if the disk fails.
CommitBuild made(EngineContext& context, storage::Transaction& transaction,
                 const CommitBuildState& state);

}  // namespace nightjar::service
