// The service's clock: the time of day, which can be set, over a clock that cannot.
#pragma once

#include <chrono>

#include "storage/model/time.hpp"

namespace nightjar::simulation {

class WallClock final : public Clock {
 public:
  explicit WallClock(const Clock& steady) : steady_(steady) {}
  Time now() const override { return steady_.now() + ahead_; }
  std::chrono::steady_clock::time_point steady() const {
    return std::chrono::steady_clock::time_point(steady_.now().time_since_epoch());
  }
  // So far ahead of the true time from now on; behind it if negative.
  void set_ahead(std::chrono::microseconds ahead) { ahead_ = ahead; }
  std::chrono::microseconds ahead() const { return ahead_; }

 private:
  const Clock& steady_;
  std::chrono::microseconds ahead_{};
};

}  // namespace nightjar::simulation
