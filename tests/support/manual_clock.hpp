#pragma once

#include "storage/model/time.hpp"

namespace nightjar {

// Stands still until a test moves it.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Time start) : now_(start) {}
  Time now() const override { return now_; }
  void advance(std::chrono::microseconds by) { now_ += by; }

 private:
  Time now_;
};

}  // namespace nightjar
