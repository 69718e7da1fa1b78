// Declares what is used of ROCm SMI's interface, so that nothing has to be installed to build.
// Names are those of rocm_smi.h without the prefix. Layouts and numbers are ROCm 5's to 7's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nightjar::runner::rocm {

// rsmi_status_t
constexpr int kSuccess = 0, kInvalidArguments = 1, kNotSupported = 2, kOutOfBounds = 7,
              kInitError = 8;

// rsmi_clk_type_t, rsmi_memory_type_t, rsmi_temperature_type_t, rsmi_temperature_metric_t,
// rsmi_sw_component_t
constexpr int kClockSystem = 0, kClockMemory = 4;
constexpr int kVram = 0;
constexpr std::uint32_t kEdge = 0, kJunction = 1;
constexpr int kTemperatureNow = 0;
constexpr int kDriver = 0;

// rsmi_dev_perf_level_t: clocks are free in `automatic`, and fixed from stable_std on.
constexpr int kAutomatic = 0, kStableStandard = 4, kDeterminism = 8;

constexpr std::size_t kNameBytes = 128;

struct Version {  // rsmi_version_t
  std::uint32_t major, minor, patch;
  const char* build;
};

// rsmi_frequencies_t of ROCm 5 and before, and since ROCm 6. In hertz.
struct OldFrequencies {
  std::uint32_t supported, current;
  std::uint64_t hertz[32];
};
struct Frequencies {
  bool has_deep_sleep;
  std::uint32_t supported, current;
  std::uint64_t hertz[33];
};
constexpr std::uint32_t kNewFrequencies = 6;  // the major version that has the second
static_assert(sizeof(OldFrequencies) == 264 && sizeof(Frequencies) == 280);

struct Process {  // rsmi_process_info_t
  std::uint32_t pid, pasid;
  std::uint64_t vram_bytes, sdma_usage;
  std::uint32_t cu_occupancy;
};
static_assert(sizeof(Process) == 32);

struct ErrorCount {  // rsmi_error_count_t
  std::uint64_t correctable, uncorrectable;
};
constexpr std::uint64_t kGraphicsBlock = 4, kMemoryBlock = 1;  // rsmi_gpu_block_t: GFX, UMC

}  // namespace nightjar::runner::rocm
