// Which CPUs an agent keeps to where it may run on all of its node's, as a pod with a CPU quota
// may. Two agents that chose alike would measure on the same cores.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/base/file_lock.hpp"

namespace nightjar::runner {

struct CpuWish {
  int count = 0;                     // 0: as many whole ones as the CPU quota allows
  std::filesystem::path locks = {};  // folder that all agents of the node see; empty: none
  std::string pci_bus = {};          // of the device that is measured on; empty: none
};

// CPUs that are an agent's own. Those that it locked stay so until this object or the process ends.
struct OwnCpus {
  std::vector<int> cpus = {};  // in order; empty: all that the process may run on
  std::vector<FileLock> locks = {};
};

// Chooses CPUs and pins this thread to them, and with it all that it starts. In a folder of locks,
// they are CPUs that no other agent has. Without one, each device of the node has a share, which
// follows from its place among them. Does nothing where neither is asked for and there is no quota.
// Throws WrongUse, and std::runtime_error if too few CPUs are free or cannot be pinned to.
OwnCpus keep_to_own_cpus(const CpuWish& wish);

// Locks `count` of the CPUs, the last ones first, as files in `folder`. Throws std::runtime_error
// that says how many are free, and then holds none.
OwnCpus lock_cpus(const std::filesystem::path& folder, const std::vector<int>& cpus,
                  std::size_t count);

// Returns the last `count` CPUs of the share that the device at `index` has of `cpus`; none if a
// share is smaller. `cpus` and `local`: see divide_cpus.
std::vector<int> share_of_device(const std::vector<int>& cpus,
                                 const std::vector<std::vector<int>>& local, std::size_t index,
                                 std::size_t count);

}  // namespace nightjar::runner
