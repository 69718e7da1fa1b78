// Declares what is used of ROCm SMI's interface, so that nothing has to be installed to build.
// Names are those of rocm_smi.h without the prefix. Layouts and numbers are ROCm 5's to 7's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nightjar::runner::rocm {

// rsmi_status_t
constexpr int success = 0, invalid_arguments = 1, not_supported = 2, out_of_bounds = 7,
              init_error = 8;

// rsmi_clk_type_t, rsmi_memory_type_t, rsmi_temperature_type_t, rsmi_temperature_metric_t,
// rsmi_sw_component_t
constexpr int clock_system = 0, clock_memory = 4;
constexpr int vram_heap = 0;
constexpr std::uint32_t edge_sensor = 0, junction_sensor = 1;
constexpr int temperature_now = 0;
constexpr int driver_component = 0;

// rsmi_dev_perf_level_t: clocks are free in `automatic`, and fixed from stable_std on.
constexpr int automatic_level = 0, stable_standard = 4, determinism = 8;

constexpr std::size_t name_bytes = 128;

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
constexpr std::uint32_t frequencies_since = 6;  // the major version that has the second
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
constexpr std::uint64_t graphics_block = 4, memory_block = 1;  // rsmi_gpu_block_t: GFX, UMC

}  // namespace nightjar::runner::rocm
