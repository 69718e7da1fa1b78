// NVIDIA's management library, opened at run time: nothing is linked, and a machine without it, or
// without devices, simply has none. Used by gpu_probe.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "storage/model/gpu.hpp"

namespace nightjar::runner {

class Nvml {
 public:
  // `library` is looked up as dlopen does. Never throws.
  explicit Nvml(const std::filesystem::path& library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Why there is nothing to read: "no NVIDIA device" or what the library said; empty if there is.
  const std::string& missing() const { return missing_; }

  // All devices as they are now, in the order of their PCI buses. `used` is false everywhere,
  // `others` holds every process with a compute context. A value that a device does not tell stays
  // nullopt.
  std::vector<GpuState> read() const;
  // Why the clocks of device `index` (of that order) are as they are at this moment.
  std::vector<ClockEvent> clock_events(std::size_t index) const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  std::string missing_ = "no NVIDIA device";
};

}  // namespace nightjar::runner
