// A vendor's management library, opened at run time: what it tells of the GPUs. Two of them:
// NVIDIA's (nvml.hpp) and AMD's (rocm_smi.hpp). Used by gpu_probe.
#pragma once

#include <string>
#include <vector>

#include "storage/model/gpu.hpp"

namespace nightjar::runner {

class GpuLibrary {
 public:
  virtual ~GpuLibrary() = default;

  // Why there is nothing to read: "no NVIDIA device" or what the library said; empty if there is.
  virtual const std::string& missing() const = 0;

  // The variable that says which devices a program sees: "CUDA_VISIBLE_DEVICES".
  virtual const char* selector() const = 0;

  // All devices as they are now, in the order of their PCI buses. `used` is false everywhere,
  // `others` holds every process with a compute context. A value that a device does not tell stays
  // nullopt.
  virtual std::vector<GpuState> read() const = 0;
  // Fills in what moves over the links of device `index`, if it tells. Takes a moment to count.
  virtual void read_traffic(std::size_t index, GpuState& gpu) const = 0;
  // Why the clocks of device `index` (of that order) are as they are at this moment.
  virtual std::vector<ClockEvent> clock_events(std::size_t index) const = 0;
};

}  // namespace nightjar::runner
