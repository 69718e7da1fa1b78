// Times iterations on a CUDA device by its own events, beside the wall's clock, and reads what its
// caching allocator holds. Used by run.cpp; device_clock.py is the same in Python.
#pragma once

#include <c10/core/Event.h>
#include <cstdint>
#include <vector>

#include "harness/protocol.hpp"

namespace nightjar::workloads {

class DeviceClock {
 public:
  explicit DeviceClock(c10::DeviceType device);

  // Around an iteration: events in the device's current stream.
  void begin();
  void end();

  // To be called once after each iteration, when the device is synchronised and outside the
  // iteration's time. What a LibTorch has no common interface for is not noted: 1.13 has neither,
  // allocators have one since 2.9.
  void observe();

  // What was noted, from the iteration `since` on, but for the peaks.
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
