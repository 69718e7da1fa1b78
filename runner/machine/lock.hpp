// One job at a time on one machine: whoever measures or compiles holds this lock, whatever its
// cache folder or its user is. The agent's sessions, `measure`, `profile` and `prepare-native` take
// it.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "storage/base/file_lock.hpp"

namespace nightjar::runner {

// NIGHTJAR_MACHINE_LOCK, else /run/lock/nightjar-machine.lock, else the same file in /tmp if there
// is no such folder. Set the variable where several containers share cores: to a file that all see.
std::filesystem::path machine_lock_path();

// Held until destroyed or until the process dies.
class MachineLock {
 public:
  // Waits as long as another process holds it. `waiting` is called once, with the holder: "process
  // 4242 (measures 3 workloads)". Others that wait are told `purpose`. Throws Stopped, and
  // std::runtime_error if the file can be neither made nor opened.
  MachineLock(const std::filesystem::path& path, const std::string& purpose, std::stop_token stop,
              const std::function<void(const std::string& holder)>& waiting);

 private:
  FileLock lock_;
};

}  // namespace nightjar::runner
