// Where a commit's build comes from: the ends are nightlies, the commits between are overlays.
#pragma once

#include <string>
#include <variant>

#include "service/engine/context.hpp"
#include "storage/model/build.hpp"
#include "storage/model/job.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

struct CommitBuild {
  BuildId build;
  EnvironmentSpec environment;
};
struct NoBuild {
  std::string reason;
};
// The build of commit `index` of the bisection, made if it does not exist yet. Throws
// std::runtime_error if the disk fails; NoBuild is the commit's own fault.
std::variant<CommitBuild, NoBuild> build_of_commit(EngineContext& context,
                                                   const Bisection& bisection, int index);
// Whether it would cost a build: false for the ends and for what was made before.
bool is_built(EngineContext& context, const Bisection& bisection, int index);

}  // namespace nightjar::service
