// Runners that can be planned for.
#pragma once

#include <string_view>
#include <vector>

#include "service/engine/context.hpp"
#include "storage/model/machine.hpp"

namespace nightjar::service {

// Whether it was seen within [queue] runner_silent, and has not said since that it ends.
bool is_live(const Runner& runner, Time now, const Config& config);
// All such runners.
std::vector<Runner> live_runners(const EngineView& view);

// Whether its machine measures builds of this variant: its label `variant` lists those that it does
// ("cu126,cpu"). Without one it measures the first source's.
bool measures(const Runner& runner, std::string_view variant, const Config& config);

}  // namespace nightjar::service
