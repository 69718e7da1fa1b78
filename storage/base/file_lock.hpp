// Keeps several processes from using one thing at once. Used for the service's data folder, for a
// runner's cache and for a whole machine.
#pragma once

#include <filesystem>
#include <string>

#include "storage/base/fd.hpp"

namespace nightjar {

// A lock on a file (flock). It ends with this object or with the process, however that dies.
// Children do not hold it.
class FileLock {
 public:
  // Opens the file, or makes it with `mode`. Throws std::system_error that names it.
  explicit FileLock(const std::filesystem::path& path, mode_t mode = 0644);
  // False while another process holds the lock. The holder's id and `purpose` stand in the file.
  bool try_lock(const std::string& purpose = {});

 private:
  std::filesystem::path path_;
  Fd fd_;
};

// Who holds the lock `path` now, such as "4242 (measures job 3)"; empty: nobody. Changes nothing.
std::string lock_holder(const std::filesystem::path& path);

// Makes `folder` if it is missing and locks the file `name` in it. Throws std::runtime_error that
// names the folder, its holder, and what to do: `advice`.
FileLock lock_folder(const std::filesystem::path& folder, const std::string& name,
                     const std::string& advice);

}  // namespace nightjar
