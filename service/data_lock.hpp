// Keeps the data folder to one process. Taken by nightjard before it opens the database for
// writing.
#pragma once

#include <filesystem>

namespace nightjar::service {

// Held until destroyed or the process dies, however it dies.
class DataLock {
 public:
  // Makes the folder if it is missing. Throws std::runtime_error that names the folder and the
  // process that holds it.
  explicit DataLock(const std::filesystem::path& folder);
  ~DataLock();
  DataLock(const DataLock&) = delete;
  DataLock& operator=(const DataLock&) = delete;

 private:
  int file_;
};

}  // namespace nightjar::service
