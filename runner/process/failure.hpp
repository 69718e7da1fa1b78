// The ways in which a session or a command fails, told apart by what to do about each.
#pragma once

#include <stdexcept>

namespace nightjar::runner {

// The network or the disk was at fault, not the build. The job may be tried again.
struct TransientFailure : std::runtime_error {
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
// The reason of a workload that has no run because a person asked to stop.
inline constexpr const char* left_out_stopped = "left out, stopped on request";

}  // namespace nightjar::runner
