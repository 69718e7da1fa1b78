// Declares what is used of NVML's interface, so that nothing has to be installed to build. Names
// are NVML's without its prefix. Layouts and numbers are those of nvml.h 13 (NVIDIA/go-nvml,
// gen/nvml/nvml.h). tests/runner/machine/nvml_abi_test.cpp compares them with a real header if
// there is one.
#pragma once

namespace nightjar::runner::nvml {

struct Device_st;
using Device = Device_st*;

// nvmlReturn_t
constexpr int kSuccess = 0, kUninitialized = 1, kInvalidArgument = 2, kNotSupported = 3,
              kInsufficientSize = 7, kDriverNotLoaded = 9, kArgumentVersionMismatch = 25;

// nvmlClockType_t, nvmlTemperatureSensors_t, nvmlMemoryErrorType_t, nvmlEccCounterType_t
constexpr int kClockSm = 1, kClockMemory = 2;
constexpr int kTemperatureGpu = 0;
constexpr int kErrorUncorrected = 1;
constexpr int kVolatileEcc = 0;

// nvmlGpuVirtualizationMode_t; nvmlDeviceGetMigMode's modes
constexpr int kVirtualizationVgpu = 2;
constexpr unsigned kMigEnabled = 1;

constexpr unsigned kNameBytes = 96, kUuidBytes = 96, kDriverBytes = 80;

// nvmlProcessInfo_v2_t, which functions *_v2 and *_v3 fill
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_gpu_memory;  // all ones: not available
  unsigned gpu_instance, compute_instance;
};

struct Memory {  // nvmlMemory_t, in bytes
  unsigned long long total, free, used;
};

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

struct Temperature {
  unsigned version;
  int sensor;
  int celsius;
};
constexpr unsigned kTemperatureVersion = sizeof(Temperature) | (1u << 24);

}  // namespace nightjar::runner::nvml
