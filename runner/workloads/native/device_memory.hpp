// What the caching allocator of a CUDA device holds, read after each iteration. Used by run.cpp.
#pragma once

#include <c10/core/DeviceType.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol.hpp"

namespace nightjar::workloads {

class DeviceMemory {
 public:
  explicit DeviceMemory(c10::DeviceType device) : device_(device) {}

  // To be called after each iteration. Nothing is noted where LibTorch has no common interface of device
  // allocators (before 2.9).
  void note();

  // Peaks, and the leak slope from the iteration `since` on; nullopt if nothing was noted.
  std::optional<GpuMemory> read(int since) const;

 private:
  c10::DeviceType device_;
  std::vector<std::int64_t> allocated_;  // bytes, after each iteration
  GpuMemory peaks_;
};

}  // namespace nightjar::workloads
