// Where the time went at both sides of a blamed commit: one more session before the report, in
// which nothing is measured.
#pragma once

#include <optional>

#include "bisect/profile_diff.hpp"
#include "service/engine/context.hpp"
#include "storage/model/regression.hpp"

namespace nightjar::service {

// Asks for the profiles of a blamed regression the first time. True once there is nothing to wait
// for: they are made, cannot be made, or took too long.
bool boundary_is_profiled(EngineContext& context, const Regression& regression);

// nullopt: one side or both have no profile.
std::optional<bisect::ProfileDiff> boundary_difference(EngineContext& context,
                                                       const Regression& regression);

}  // namespace nightjar::service
