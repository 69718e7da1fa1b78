#include "runner/machine/nvml_functions.hpp"

#include <dlfcn.h>
#include <initializer_list>

namespace nightjar::runner::nvml {

bool Functions::find_in(void* library) {
  // The first of `names` that the library has.
  const auto find = [&]<class Function>(Function& function,
                                        std::initializer_list<const char*> names) {
    for (const char* symbol : names)
      if (!function) function = reinterpret_cast<Function>(::dlsym(library, symbol));
  };
  find(init, {"nvmlInit_v2"});
  find(shutdown, {"nvmlShutdown"});
  find(error_string, {"nvmlErrorString"});
  find(driver_version, {"nvmlSystemGetDriverVersion"});
  find(device_count, {"nvmlDeviceGetCount_v2"});
  find(device_by_index, {"nvmlDeviceGetHandleByIndex_v2"});
  find(name, {"nvmlDeviceGetName"});
  find(uuid, {"nvmlDeviceGetUUID"});
  find(pci_info, {"nvmlDeviceGetPciInfo_v3"});
  find(clock, {"nvmlDeviceGetClockInfo"});
  find(power, {"nvmlDeviceGetPowerUsage"});
  find(temperature, {"nvmlDeviceGetTemperatureV"});
  find(old_temperature, {"nvmlDeviceGetTemperature"});
  find(ecc, {"nvmlDeviceGetTotalEccErrors"});
  find(events, {"nvmlDeviceGetCurrentClocksEventReasons",
                "nvmlDeviceGetCurrentClocksThrottleReasons"});  // the name before driver 535
  find(persistence, {"nvmlDeviceGetPersistenceMode"});
  find(memory, {"nvmlDeviceGetMemoryInfo"});
  find(mig, {"nvmlDeviceGetMigMode"});
  find(virtualization, {"nvmlDeviceGetVirtualizationMode"});
  find(pcie_throughput, {"nvmlDeviceGetPcieThroughput"});
  find(field_values, {"nvmlDeviceGetFieldValues"});
  find(processes,
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  return init && shutdown && error_string && device_count && device_by_index;
}

}  // namespace nightjar::runner::nvml
