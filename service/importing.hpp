// Machine classes of which nights are being imported. Their histories are judged when the import is
// over, since each judgement reads a whole series. Used by the API and the engine.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "storage/model/id.hpp"

namespace nightjar::service {

// Usable from any thread.
class Importing {
 public:
  // The class is being imported as long as what is returned is kept.
  std::shared_ptr<const MachineId> begin(MachineId machine) {
    auto held = std::make_shared<const MachineId>(machine);
    const std::lock_guard lock(mutex_);
    std::erase_if(held_, [](const auto& one) { return one.expired(); });
    held_.push_back(held);
    return held;
  }
  bool holds(MachineId machine) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(held_.begin(), held_.end(), [&](const auto& one) {
      const auto held = one.lock();
      return held && *held == machine;
    });
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<const MachineId>> held_;
};

}  // namespace nightjar::service
