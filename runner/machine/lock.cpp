#include "runner/machine/lock.hpp"

#include <cstdlib>
#include <system_error>
#include <unistd.h>

#include "runner/process/failure.hpp"
#include "runner/process/wait.hpp"
#include "storage/base/files.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {
constexpr std::chrono::milliseconds ask_again{200};

// All users may write to it: the holder of the lock writes its name there.
FileLock open_machine_lock(const fs::path& path) try {
  return FileLock(path, 0666);
} catch (const std::system_error& error) {
  throw std::runtime_error(error.what() +
                           std::string("; this file keeps jobs of this machine apart, "
                                       "and NIGHTJAR_MACHINE_LOCK names another one"));
}

}  // namespace

fs::path machine_lock_path() {
  if (const char* named = std::getenv("NIGHTJAR_MACHINE_LOCK"); named && *named) return named;
  const char* folder = ::access("/run/lock", W_OK) == 0 ? "/run/lock" : "/tmp";
  return fs::path(folder) / "nightjar-machine.lock";
}

MachineLock::MachineLock(const fs::path& path, const std::string& purpose, std::stop_token stop,
                         const std::function<void(const std::string&)>& waiting)
    : lock_(open_machine_lock(path)) {
  for (bool told = false; !lock_.try_lock(purpose); told = true) {
    if (!told) waiting("process " + read_line(path));
    if (!wait_for(ask_again, stop)) throw Stopped();
  }
}

}  // namespace nightjar::runner
