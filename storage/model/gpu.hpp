// What a GPU did while something was measured, as NVIDIA's management library tells it: part of a
// MachineState. The runner reads it, the service voids sessions by it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/model/enum.hpp"

namespace nightjar {

// Why a GPU's clocks are not what they could be; in the order of the bits of NVML's
// nvmlClocksEventReasons, `unknown` for any bit that came later.
NIGHTJAR_ENUM(ClockEvent, gpu_idle, applications_clocks_setting, sw_power_cap, hw_slowdown,
              sync_boost, sw_thermal_slowdown, hw_thermal_slowdown, hw_power_brake_slowdown,
              display_clock_setting, unknown);

struct GpuProcess {
  std::int64_t pid = 0;
  std::string name;                          // empty: it is another container's
  std::optional<std::int64_t> memory_bytes;  // nullopt: the driver does not tell
};

// nullopt: this device does not tell.
struct GpuState {
  std::string name, uuid, pci_bus, driver;
  bool used = false;  // by workloads: the first that they see
  std::optional<double> sm_mhz, memory_mhz, power_watts, temperature_celsius;
  std::optional<std::int64_t> ecc_errors;  // uncorrected, since the driver was loaded
  std::optional<bool> persistence;
  std::optional<std::int64_t> memory_bytes;  // that the device has
  // Bytes a second, in and out together, while no run of ours went on.
  std::optional<double> pcie_traffic, nvlink_traffic;
  std::optional<bool> mig;     // it is cut into parts that share memory and buses (MIG)
  std::optional<bool> sliced;  // a hypervisor shares it among machines in time slices (vGPU)
  std::vector<ClockEvent> clock_events;  // seen since the state before, each once
  std::vector<GpuProcess> others;  // seen since the state before, while no run of ours went on
};

// The events that make a measurement void. Harmless are an idle device (nothing ran that could have
// been slowed) and what an administrator set for good (application and display clocks): it is the
// same in every session. All others depend on heat, on power, or on other devices.
std::vector<ClockEvent> throttling(const GpuState& gpu);

// "sw_power_cap, hw_slowdown" of the devices that workloads use; empty if none was throttled.
std::string throttling(const std::vector<GpuState>& gpus);

}  // namespace nightjar
