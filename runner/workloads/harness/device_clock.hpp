// Times iterations on a CUDA device by CUDA events, beside the wall clock, and reads its caching
// allocator. Used by run.cpp.
#pragma once

#include <c10/core/Event.h>
#include <cstdint>
#include <vector>

#include "harness/protocol.hpp"

namespace nightjar::workloads {

class DeviceClock {
 public:
  explicit DeviceClock(c10::DeviceType device);

  // Record the events before and after an iteration, in the device's current stream.
  void begin();
  void end();

  // Call it once after each iteration, outside its time, with the device synchronised. It omits
  // what LibTorch has no interface for: events in 1.13, the allocator before 2.9.
  void observe();

  // The times and the growth from iteration `since` on, and the peaks of all iterations.
  OnDevice read(int since) const;

 private:
  c10::Stream stream() const;

  c10::DeviceType device_;
  c10::Event first_, last_;
  std::vector<double> seconds_;
  std::vector<std::int64_t> allocated_;  // bytes, after each iteration
  GpuMemory peaks_;
};

}  // namespace nightjar::workloads
