// Sees when somebody sets the system's clock, by a clock that nobody can set. Used by the daemon,
// whose leases are times of day.
#pragma once

#include <chrono>
#include <optional>

#include "storage/model/time.hpp"

namespace nightjar::service {

class ClockSteps {
 public:
  // How far the wall clock was set since the observation before, in either direction. nullopt: not
  // at all, or by no more than ten seconds, which is how time servers correct a clock.
  std::optional<std::chrono::microseconds> observe(Time wall,
                                                   std::chrono::steady_clock::time_point steady);

 private:
  struct Both {
    Time wall;
    std::chrono::steady_clock::time_point steady;
  };
  std::optional<Both> before_;
};

}  // namespace nightjar::service
