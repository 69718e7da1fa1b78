// The functions of NVML that are used, found in the library at run time. Used by nvml.cpp only.
#pragma once

#include "runner/machine/nvml_abi.hpp"

namespace nightjar::runner::nvml {

// The library's functions. Those that older drivers lack may be null.
struct Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*device_count)(unsigned*) = nullptr;
  int (*device_by_index)(unsigned, Device*) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;
  int (*pci_info)(Device, PciInfo*) = nullptr;
  int (*clock)(Device, int, unsigned*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*temperature)(Device, Temperature*) = nullptr;
  int (*old_temperature)(Device, int, unsigned*) = nullptr;
  int (*ecc)(Device, int, int, unsigned long long*) = nullptr;
  int (*events)(Device, unsigned long long*) = nullptr;
  int (*persistence)(Device, int*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*mig)(Device, unsigned*, unsigned*) = nullptr;  // now, and after the next reset
  int (*virtualization)(Device, int*) = nullptr;
  int (*pcie_throughput)(Device, int, unsigned*) = nullptr;  // kB/s, over 20 ms
  int (*field_values)(Device, int, FieldValue*) = nullptr;
  int (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;

  // False if what cannot be done without is not there.
  bool find_in(void* library);
};

}  // namespace nightjar::runner::nvml
