// Which workloads a night profiles. They take turns, so that within weeks each has a profile, and
// not only those that got slower. Nothing of it is judged.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "service/config.hpp"
#include "service/engine/context.hpp"
#include "storage/model/build.hpp"
#include "storage/model/job.hpp"
#include "storage/model/night.hpp"

namespace nightjar::service {

// By machine class: the workloads of tonight's sessions whose turn it is.
using ProfileTurns = std::map<MachineId, std::vector<Workload>>;

// Those that were asked for longest ago, and first those that never were. At most `[night]
// profiles` of a class; none of another project than PyTorch, whose builds are not profiled.
ProfileTurns load_profile_turns(const EngineView& view, const std::vector<Job>& usable);

// A session for each, behind all others. A command of a person's own ends it as unavailable.
std::vector<Job> plan_profiles(const ProfileTurns& turns, const Night& night, const Build& build,
                               const Config& config);

}  // namespace nightjar::service
