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
static_assert(ours::virtualization_vgpu == NVML_GPU_VIRTUALIZATION_MODE_VGPU);
static_assert(ours::mig_enabled == NVML_DEVICE_MIG_ENABLE);
static_assert(sizeof(ours::PciInfo) == sizeof(nvmlPciInfo_t));
static_assert(offsetof(ours::PciInfo, bus_id) == offsetof(nvmlPciInfo_t, busId));
static_assert(ours::success == NVML_SUCCESS && ours::uninitialized == NVML_ERROR_UNINITIALIZED);
static_assert(ours::invalid_argument == NVML_ERROR_INVALID_ARGUMENT);
static_assert(ours::not_supported == NVML_ERROR_NOT_SUPPORTED);
static_assert(ours::insufficient_size == NVML_ERROR_INSUFFICIENT_SIZE);
static_assert(ours::driver_not_loaded == NVML_ERROR_DRIVER_NOT_LOADED);
static_assert(ours::clock_sm == NVML_CLOCK_SM && ours::clock_memory == NVML_CLOCK_MEM);
static_assert(ours::temperature_gpu == NVML_TEMPERATURE_GPU);
static_assert(ours::error_uncorrected == NVML_MEMORY_ERROR_TYPE_UNCORRECTED);
static_assert(ours::volatile_ecc == NVML_VOLATILE_ECC);
static_assert(ours::name_bytes >= NVML_DEVICE_NAME_V2_BUFFER_SIZE);
static_assert(ours::uuid_bytes >= NVML_DEVICE_UUID_V2_BUFFER_SIZE);
static_assert(ours::driver_bytes >= NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE);
static_assert(ours::pcie_sent == NVML_PCIE_UTIL_TX_BYTES);
static_assert(ours::pcie_received == NVML_PCIE_UTIL_RX_BYTES);
static_assert(ours::nvlink_sent == NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX);
static_assert(ours::nvlink_received == NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX);
static_assert(sizeof(ours::FieldValue) == sizeof(nvmlFieldValue_t));
static_assert(offsetof(ours::FieldValue, answer) == offsetof(nvmlFieldValue_t, nvmlReturn));
static_assert(offsetof(ours::FieldValue, value) == offsetof(nvmlFieldValue_t, value));
static_assert(sizeof(int) == sizeof(nvmlReturn_t) && sizeof(int) == sizeof(nvmlEnableState_t));
#if NVML_API_VERSION >= 13
static_assert(ours::argument_version_mismatch == NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
static_assert(sizeof(ours::Temperature) == sizeof(nvmlTemperature_t));
static_assert(ours::temperature_version == nvmlTemperature_v1);
static_assert(nvmlClocksEventReasonGpuIdle == 1 && nvmlClocksEventReasonSwPowerCap == 4);
static_assert(nvmlClocksThrottleReasonHwThermalSlowdown == 64);
static_assert(nvmlClocksEventReasonDisplayClockSetting == 256);
#endif
#endif
