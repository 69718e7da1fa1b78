// Why a session or a command could not go on, by what is to be done about it.
#pragma once

#include <stdexcept>

namespace nightjar::runner {

// The world around was at fault (network, disk): the job may be tried again, nothing is blamed on
// the build.
struct Transient : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The caller asked for something that cannot be: exit code 2.
struct WrongUse : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Somebody asked to stop, or the lease was lost.
struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error("stopped on request") {}
};
// Why a workload has no run although its turn would have come, in results by hand.
inline constexpr const char* kLeftOutStopped = "left out, stopped on request";

}  // namespace nightjar::runner
