#include "runner/machine/lock.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "runner/process/failure.hpp"
#include "runner/process/wait.hpp"
#include "storage/base/files.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {
constexpr std::chrono::milliseconds kAskAgain{200};

// Opened before it is made: fs.protected_regular refuses O_CREAT of another user's file in a sticky
// folder. Everybody may write: whoever holds it says so in it.
int open_lock(const fs::path& path) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (const int mode : {O_RDWR, O_RDONLY})
      if (const int fd = ::open(path.c_str(), mode | O_CLOEXEC); fd >= 0) return fd;
    const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (made >= 0) {
      ::fchmod(made, 0666);
      return made;
    }
  }
  throw std::system_error(errno, std::generic_category(),
                          "cannot open " + path.string() +
                              ", which keeps jobs of this machine apart; "
                              "NIGHTJAR_MACHINE_LOCK names another file");
}

}  // namespace

fs::path machine_lock_path() {
  if (const char* named = std::getenv("NIGHTJAR_MACHINE_LOCK"); named && *named) return named;
  const char* folder = ::access("/run/lock", W_OK) == 0 ? "/run/lock" : "/tmp";
  return fs::path(folder) / "nightjar-machine.lock";
}

MachineLock::MachineLock(const fs::path& path, const std::string& purpose, std::stop_token stop,
                         const std::function<void(const std::string&)>& waiting)
    : fd_(open_lock(path)) {
  bool told = false;
  while (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    if (!told) waiting("process " + read_line(path));
    told = true;
    if (wait_for(kAskAgain, stop)) continue;
    ::close(fd_);
    throw Stopped();
  }
  // Only for the message of others; that it cannot be written is no reason not to measure.
  const std::string text = std::to_string(::getpid()) + " (" + purpose + ")\n";
  if (::ftruncate(fd_, 0) == 0) {
    const auto ignored = ::pwrite(fd_, text.data(), text.size(), 0);
    static_cast<void>(ignored);
  }
}

MachineLock::~MachineLock() {
  ::close(fd_);
}

}  // namespace nightjar::runner
