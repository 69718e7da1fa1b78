// Two ends of one native group differ in their Python files, and in their wheels. Each end's files
// laid over the other's wheel tell which of the two made a change. Used by confirmations.
#pragma once

#include <optional>

#include "service/builds/overlay.hpp"
#include "service/engine/context.hpp"
#include "storage/model/build.hpp"
#include "storage/model/job.hpp"

namespace nightjar::service {

// One end's files over the other's wheel. `build` has no id as long as it is not stored.
struct LaidEnd {
  OverlayPlan plan;
  Build build;
};
struct WheelCrossing {
  LaidEnd source;            // the bad end's files over the good wheel
  LaidEnd wheel;             // the good end's files over the bad wheel
  bool same_source = false;  // no file differs, so that neither has to be measured
};
// nullopt: both are one wheel, or a native file differs. Reads the repository.
std::optional<WheelCrossing> wheel_crossing(const EngineView& view, const Build& good,
                                            const Build& bad, OverlayUse use);
// What a runner needs for one of them, made if its archive is not here, with these packages. In the
// caller's transaction. Throws std::runtime_error if the disk fails.
EnvironmentSpec laid_environment(EngineContext& context, storage::Transaction& transaction,
                                 const LaidEnd& end, const std::optional<Sha256>& lock);

}  // namespace nightjar::service
