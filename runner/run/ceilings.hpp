// The ceilings of this machine's roofline, measured once a machine class, thread count and device.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "runner/run/profile.hpp"
#include "runner/run/workload_process.hpp"

namespace nightjar::runner {

// Reads them from <cache>/ceilings, else measures them with the PyTorch at `place` and keeps them
// there. nullopt, with the reason told to `progress`, if they cannot be measured: a profile is good
// without. Throws Stopped.
std::optional<Ceilings> machine_ceilings(const RunPlace& place, const ProfileConfig& config,
                                         const std::string& device, std::stop_token stop,
                                         const std::function<void(const std::string&)>& progress);

}  // namespace nightjar::runner
