// Runners that can be planned for.
#pragma once

#include <vector>

#include "service/engine/context.hpp"
#include "storage/model/machine.hpp"

namespace nightjar::service {

// Those seen within [queue] runner_silent.
std::vector<Runner> live_runners(const EngineView& view);

}  // namespace nightjar::service
