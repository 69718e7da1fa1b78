// Whether and how the runs at a place are confined. Used by the agent and by the doctor.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "runner/run/workload_process.hpp"

namespace nightjar::runner {

struct ConfinementRequest {
  ConfinementMode mode = ConfinementMode::preferred;
  std::vector<std::filesystem::path> shown = {};   // what runs need, besides what is found anyway
  std::vector<std::filesystem::path> hidden = {};  // secrets, should they lie in what is shown
};

// Why the runs at a place cannot be confined on this machine, and what its operator does about it.
struct CannotConfine {
  std::string problem, remedy;
};
// nullopt: they can be. Then a confined process can also use each device that another one can;
// otherwise every run on it would say that there is no device.
std::optional<CannotConfine> why_not_confined(const RunPlace& place,
                                              const ConfinementRequest& request,
                                              std::stop_token stop);

// Confines the runs at `place`, if this machine can and it is asked for. Returns how: "namespaces"
// or "none", after a warning unless nothing else was asked for. Throws WrongUse if confinement is
// required and not available.
std::string confine(RunPlace& place, const ConfinementRequest& request, std::stop_token stop);

}  // namespace nightjar::runner
