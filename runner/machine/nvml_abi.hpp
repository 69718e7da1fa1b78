// Declares what is used of NVML's interface, so that nothing has to be installed to build. Names
// are NVML's without its prefix. Layouts and numbers are those of nvml.h 13 (NVIDIA/go-nvml,
// gen/nvml/nvml.h). tests/runner/machine/nvml_abi_test.cpp compares them with a real header if
// there is one.
#pragma once

namespace nightjar::runner::nvml {

struct Device_st;
using Device = Device_st*;

// nvmlReturn_t
constexpr int success = 0, uninitialized = 1, invalid_argument = 2, not_supported = 3,
              insufficient_size = 7, driver_not_loaded = 9, argument_version_mismatch = 25;

// nvmlClockType_t, nvmlTemperatureSensors_t, nvmlMemoryErrorType_t, nvmlEccCounterType_t
constexpr int clock_sm = 1, clock_memory = 2;
constexpr int temperature_gpu = 0;
constexpr int error_uncorrected = 1;
constexpr int volatile_ecc = 0;

// nvmlGpuVirtualizationMode_t; nvmlDeviceGetMigMode's modes
constexpr int virtualization_vgpu = 2;
constexpr unsigned mig_enabled = 1;

constexpr unsigned name_bytes = 96, uuid_bytes = 96, driver_bytes = 80;

// nvmlProcessInfo_v2_t, which functions *_v2 and *_v3 fill
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_gpu_memory;  // all ones: not available
  unsigned gpu_instance, compute_instance;
};

struct Memory {  // nvmlMemory_t, in bytes
  unsigned long long total, free, used;
};

// nvmlPcieUtilCounter_t
constexpr int pcie_sent = 0, pcie_received = 1;

// nvmlFieldValue_t. The fields that are used are counters since the driver was loaded, in KiB.
struct FieldValue {
  unsigned field;
  unsigned scope;       // a link, or all
  long long timestamp;  // microseconds since 1970
  long long latency;
  int type, answer;  // answer: of this field
  unsigned long long value;
};
constexpr unsigned nvlink_sent = 138, nvlink_received = 139, all_links = ~0u;

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
constexpr unsigned temperature_version = sizeof(Temperature) | (1u << 24);

}  // namespace nightjar::runner::nvml
