// Gathers over time what the vendor's library tells about the GPUs that workloads may use.
// MachineProbe reads it for the machine's state. Code that starts a run keeps a GpuWatch meanwhile.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "runner/machine/gpu_library.hpp"

namespace nightjar::runner {

// Returns which of `gpus` (in PCI order) a program sees under this CUDA_VISIBLE_DEVICES, in its
// order. As in CUDA, items are numbers or beginnings of UUIDs, and the first that is neither ends
// the list. nullopt selects all. So does a part of a device (MIG), which NVML does not tell apart.
std::vector<std::size_t> visible_gpus(const std::optional<std::string>& setting,
                                      const std::vector<GpuState>& gpus);

// What this process's environment says of them: HIP_VISIBLE_DEVICES if it is there, which AMD's
// devices have, else CUDA_VISIBLE_DEVICES. nullopt: neither is set.
std::optional<std::string> visible_devices();

class GpuProbe {
 public:
  // Probes NVIDIA's devices, else AMD's. Reads once which are visible. Runs get
  // CUDA_DEVICE_ORDER=PCI_BUS_ID, so that both count devices alike.
  GpuProbe();
  explicit GpuProbe(std::unique_ptr<GpuLibrary> library);

  const std::string& missing() const { return library_->missing(); }
  // The variable that lets a program see one device, and its value for each visible one.
  std::string selector() const { return library_->selector(); }
  std::vector<std::string> selections() const;
  // Returns the visible devices, the used one first. Its clock events are all that were seen since
  // the last call, by any watch and now. Do not call it during a run: the run's own process would
  // count as one of the others.
  std::vector<GpuState> read();

 private:
  friend class GpuWatch;
  std::set<ClockEvent> observe();  // the used device's clock events right now

  std::unique_ptr<GpuLibrary> library_;
  std::vector<std::size_t> visible_;
  std::mutex mutex_;
  std::set<ClockEvent> seen_;  // of the used device, since the last read()
};

// While it lives, a thread observes the used device's clocks four times a second. Throttling ends
// with the run, so it cannot be seen afterwards.
class GpuWatch {
 public:
  explicit GpuWatch(GpuProbe& probe);
  // Ends the watch. Returns what makes the run void ("hw_thermal_slowdown, sw_power_cap"), or "".
  std::string end();

 private:
  GpuProbe& probe_;
  std::set<ClockEvent> seen_;
  std::jthread thread_;
};

}  // namespace nightjar::runner
