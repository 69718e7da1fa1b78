// Divides a host's CPUs among agents that measure on one device each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nightjar::runner {

// Gives each device the same number of `cpus`, so that all are of one machine class. `cpus` has the
// threads of a core side by side (see by_core), and no core is shared while there are enough.
// `local`: the CPUs next to each device; empty: not known. A device gets only CPUs next to it, if
// there is one for each.
// Throws std::invalid_argument if there are fewer CPUs than devices.
std::vector<std::vector<int>> divide_cpus(const std::vector<int>& cpus,
                                          const std::vector<std::vector<int>>& local);

// The same CPUs with the hardware threads of each core side by side, as /sys tells.
std::vector<int> by_core(std::vector<int> cpus);

// The CPUs next to the device on this bus ("00000000:3B:00.0"), as /sys tells; empty: not known.
std::vector<int> cpus_near(const std::string& pci_bus);

constexpr const char* pci_folder = "/sys/bus/pci/devices";
// A bus as /sys spells it: "0000:3b:00.0".
std::string sys_name(const std::string& pci_bus);
// The buses of all devices of the node that are of one vendor and kind with this one, in order, as
// `devices` tells; a container sees them too. Empty: not known.
std::vector<std::string> devices_like(const std::string& pci_bus,
                                      const std::filesystem::path& devices = pci_folder);

// {0, 1, 2, 8} of "0-2,8"; empty for anything else.
std::vector<int> parse_cpu_list(const std::string& text);

}  // namespace nightjar::runner
