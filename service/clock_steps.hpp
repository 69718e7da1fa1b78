// Notices when the system's clock is set, by a clock that cannot be set. Used by the daemon, whose
// leases are times of day.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "storage/database.hpp"
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

// Moves the times that are stored along when the clock is set: leases must not end by it, nor hold
// for a day. Its first call also sees that the clock was set back while the service was away.
class ClockFollower {
 public:
  explicit ClockFollower(std::chrono::seconds lease) : lease_(lease) {}
  // To be called before leases are looked at. Returns how far the clock was set, if it was. Throws
  // storage::Error; then the next call tries again.
  std::optional<std::chrono::microseconds> follow(storage::Database& db, Time wall,
                                                  std::chrono::steady_clock::time_point steady);

 private:
  std::chrono::seconds lease_;
  ClockSteps steps_;
  bool looked_back_ = false;
  // Seen, but could not be stored yet; in their order. Their sum would say too little of what was
  // stored between them.
  std::vector<std::chrono::microseconds> pending_;
};

}  // namespace nightjar::service
