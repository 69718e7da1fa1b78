// Our words for NVML against NVIDIA's header, on machines that have it; else there is nothing to
// compile.
#if __has_include(<nvml.h>)
#include "runner/machine/nvml_abi.hpp"

#include <cstddef>
#include <nvml.h>

namespace ours = nightjar::runner::nvml;

static_assert(sizeof(ours::ProcessInfo) == sizeof(nvmlProcessInfo_t));
static_assert(offsetof(ours::ProcessInfo, used_gpu_memory) ==
              offsetof(nvmlProcessInfo_t, usedGpuMemory));
static_assert(sizeof(ours::Memory) == sizeof(nvmlMemory_t));
static_assert(ours::kVirtualizationVgpu == NVML_GPU_VIRTUALIZATION_MODE_VGPU);
static_assert(ours::kMigEnabled == NVML_DEVICE_MIG_ENABLE);
static_assert(sizeof(ours::PciInfo) == sizeof(nvmlPciInfo_t));
static_assert(offsetof(ours::PciInfo, bus_id) == offsetof(nvmlPciInfo_t, busId));
static_assert(ours::kSuccess == NVML_SUCCESS && ours::kUninitialized == NVML_ERROR_UNINITIALIZED);
static_assert(ours::kInvalidArgument == NVML_ERROR_INVALID_ARGUMENT);
static_assert(ours::kNotSupported == NVML_ERROR_NOT_SUPPORTED);
static_assert(ours::kInsufficientSize == NVML_ERROR_INSUFFICIENT_SIZE);
static_assert(ours::kDriverNotLoaded == NVML_ERROR_DRIVER_NOT_LOADED);
static_assert(ours::kClockSm == NVML_CLOCK_SM && ours::kClockMemory == NVML_CLOCK_MEM);
static_assert(ours::kTemperatureGpu == NVML_TEMPERATURE_GPU);
static_assert(ours::kErrorUncorrected == NVML_MEMORY_ERROR_TYPE_UNCORRECTED);
static_assert(ours::kVolatileEcc == NVML_VOLATILE_ECC);
static_assert(ours::kNameBytes >= NVML_DEVICE_NAME_V2_BUFFER_SIZE);
static_assert(ours::kUuidBytes >= NVML_DEVICE_UUID_V2_BUFFER_SIZE);
static_assert(ours::kDriverBytes >= NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE);
static_assert(sizeof(int) == sizeof(nvmlReturn_t) && sizeof(int) == sizeof(nvmlEnableState_t));
#if NVML_API_VERSION >= 13
static_assert(ours::kArgumentVersionMismatch == NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
static_assert(sizeof(ours::Temperature) == sizeof(nvmlTemperature_t));
static_assert(ours::kTemperatureVersion == nvmlTemperature_v1);
static_assert(nvmlClocksEventReasonGpuIdle == 1 && nvmlClocksEventReasonSwPowerCap == 4);
static_assert(nvmlClocksThrottleReasonHwThermalSlowdown == 64);
static_assert(nvmlClocksEventReasonDisplayClockSetting == 256);
#endif
#endif
