// Runners that can be planned for.
#pragma once

#include <vector>

#include "service/engine/context.hpp"
#include "storage/model/machine.hpp"

namespace nightjar::service {

// Whether it was seen within [queue] runner_silent, and has not said since that it ends.
bool is_live(const Runner& runner, Time now, const Config& config);
// All such runners; of one machine class if it is given.
std::vector<Runner> live_runners(const EngineView& view, MachineId machine = {});

}  // namespace nightjar::service
