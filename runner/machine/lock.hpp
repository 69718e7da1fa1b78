// One job at a time on one machine: whoever measures or compiles holds this lock meanwhile,
// whatever its cache folder or its user is. A session of the agent, `measure` and `prepare-native`
// take it.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

namespace nightjar::runner {

// NIGHTJAR_MACHINE_LOCK (for machines that share cores through several containers: a file that all
// of them see), else /run/lock/nightjar-machine.lock, else the same in /tmp where there is no such
// folder.
std::filesystem::path machine_lock_path();

// Held until destroyed or until the process dies, however it dies (flock). Not held by children.
class MachineLock {
 public:
  // Waits as long as another holds it; `waiting` is told once, "process 4242 (measures 3
  // workloads)". `purpose` is what others are then told of this one. Throws Stopped, and
  // std::system_error if the file can be neither made nor opened.
  MachineLock(const std::filesystem::path& path, const std::string& purpose, std::stop_token stop,
              const std::function<void(const std::string& holder)>& waiting);
  ~MachineLock();
  MachineLock(const MachineLock&) = delete;
  MachineLock& operator=(const MachineLock&) = delete;

 private:
  int fd_;
};

}  // namespace nightjar::runner
