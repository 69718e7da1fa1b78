#include "service/data_lock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

namespace nightjar::service {
namespace {

int open_lock(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto file = folder / "nightjard.lock";
  const int opened = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (opened < 0)
    throw std::runtime_error("cannot use the data folder " + folder.string() + ": " +
                             std::generic_category().message(errno) +
                             "; check [service] data and its permissions");
  return opened;
}

// What the holder wrote: its process id.
std::string holder_in(int file) {
  char text[32];
  const auto size = ::pread(file, text, sizeof text, 0);
  return size > 0 ? "process " + std::string(text, static_cast<std::size_t>(size))
                  : "another process";
}

}  // namespace

DataLock::DataLock(const std::filesystem::path& folder) : file_(open_lock(folder)) {
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    const std::string holder = holder_in(file_);
    ::close(file_);
    throw std::runtime_error("cannot use the data folder " + folder.string() + ": " + holder +
                             " holds it; stop that one, or let [service] data name another folder");
  }
  // Only for the message to others: that it cannot be written is no reason not to start.
  const std::string self = std::to_string(::getpid());
  if (::ftruncate(file_, 0) != 0 || ::pwrite(file_, self.data(), self.size(), 0) < 0) errno = 0;
}

DataLock::~DataLock() {
  ::close(file_);
}

}  // namespace nightjar::service
