#include "storage/base/file_lock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <stdexcept>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>

#include "storage/base/files.hpp"

namespace nightjar {
namespace fs = std::filesystem;
namespace {

// All users may be able to write to the folder. A link or a pipe that another user put there must
// neither be written to nor be waited for.
void require_plain(const Fd& lock, const fs::path& path) {
  struct stat found {};
  if (::fstat(lock.get(), &found) != 0 || !S_ISREG(found.st_mode) || found.st_nlink != 1)
    throw std::system_error(EINVAL, std::generic_category(),
                            path.string() + " is no plain file; remove it");
}

// Opened before it is made: fs.protected_regular refuses O_CREAT of another user's file in a sticky
// folder.
Fd open_lock(const fs::path& path, mode_t mode) {
  constexpr int careful = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (const int access : {O_RDWR, O_RDONLY})
      if (Fd fd(::open(path.c_str(), access | careful)); fd) {
        require_plain(fd, path);
        return fd;
      }
    if (Fd made(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)); made) {
      ::fchmod(made.get(), mode);  // whatever the umask says
      return made;
    }
  }
  throw std::system_error(errno, std::generic_category(), "cannot open " + path.string());
}

}  // namespace

FileLock::FileLock(const fs::path& path, mode_t mode) : path_(path), fd_(open_lock(path, mode)) {}

bool FileLock::try_lock(const std::string& purpose) {
  if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) return false;
  // The text only serves other processes' messages, so a failed write is no failed lock.
  const std::string text =
      std::to_string(::getpid()) + (purpose.empty() ? "" : " (" + purpose + ")") + "\n";
  if (::ftruncate(fd_.get(), 0) != 0 || ::pwrite(fd_.get(), text.data(), text.size(), 0) < 0)
    errno = 0;
  return true;
}

std::string lock_holder(const fs::path& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return fd && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 ? read_line(path) : "";
}

FileLock lock_folder(const fs::path& folder, const std::string& name, const std::string& advice) {
  const std::string attempt = "cannot use the folder " + folder.string() + ": ";
  try {
    fs::create_directories(folder);
    FileLock lock(folder / name);
    if (lock.try_lock()) return lock;
  } catch (const std::system_error& error) {
    throw std::runtime_error(attempt + error.what() + "; check its permissions");
  }
  const std::string holder = read_line(folder / name);
  throw std::runtime_error(attempt + (holder.empty() ? "another process" : "process " + holder) +
                           " holds it; " + advice);
}

}  // namespace nightjar
