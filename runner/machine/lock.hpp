// One job at a time on one machine: whoever measures or compiles holds this lock meanwhile,
// whatever its cache folder or its user is. A session of the agent, `measure` and `prepare-native`
// take it.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "storage/base/file_lock.hpp"

namespace nightjar::runner {

// NIGHTJAR_MACHINE_LOCK (for machines that share cores through several containers: a file that all
// of them see), else /run/lock/nightjar-machine.lock, else the same in /tmp where there is no such
// folder.
std::filesystem::path machine_lock_path();

// Held until destroyed or until the process dies.
class MachineLock {
 public:
  // Waits as long as another process holds it. `waiting` is called once, with the holder: "process
  // 4242 (measures 3 workloads)". Others are told `purpose` of this one. Throws Stopped, and
  // std::runtime_error if the file can be neither made nor opened.
  MachineLock(const std::filesystem::path& path, const std::string& purpose, std::stop_token stop,
              const std::function<void(const std::string& holder)>& waiting);

 private:
  FileLock lock_;
};

}  // namespace nightjar::runner
