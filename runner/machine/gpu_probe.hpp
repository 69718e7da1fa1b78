// The GPUs that workloads may use, over time: what NVML tells of a moment, gathered between two
// states of the machine. Used by machine_state; the watch by whoever starts a run.
#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "runner/machine/nvml.hpp"

namespace nightjar::runner {

// Which of `gpus` (in PCI order) a program sees under this CUDA_VISIBLE_DEVICES, first to last:
// numbers, or beginnings of UUIDs, up to the first that is neither, as CUDA reads it; nullopt: all.
// A part of a device (MIG) cannot be told apart from here: then all of them.
std::vector<std::size_t> visible_gpus(const std::optional<std::string>& setting,
                                      const std::vector<GpuState>& gpus);

class GpuProbe {
 public:
  // With CUDA_VISIBLE_DEVICES as it is now. Runs get CUDA_DEVICE_ORDER=PCI_BUS_ID, so both count
  // alike.
  explicit GpuProbe(const std::filesystem::path& library = "libnvidia-ml.so.1");

  const std::string& missing() const { return nvml_.missing(); }
  // The visible devices, the used one first. Clock events are all that were seen since the call
  // before, by any watch and now. Not to be called during a run, whose own process would be one of
  // the others.
  std::vector<GpuState> read();

 private:
  friend class GpuWatch;
  std::set<ClockEvent> look();  // at the used device, now

  Nvml nvml_;
  std::vector<std::size_t> visible_;
  std::mutex mutex_;
  std::set<ClockEvent> seen_;  // of the used device, since the last read()
};

// While it lives, a thread looks at the used device's clocks four times a second: throttling passes
// as soon as a run has ended.
class GpuWatch {
 public:
  explicit GpuWatch(GpuProbe& probe);
  // Ends it. What makes the run void, "hw_thermal_slowdown, sw_power_cap"; empty if nothing does.
  std::string end();

 private:
  GpuProbe& probe_;
  std::set<ClockEvent> seen_;
  std::jthread thread_;
};

}  // namespace nightjar::runner
