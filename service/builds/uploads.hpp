// Wheels on their way from builders, part by part, and the logs of builds. A part is appended to a
// file, so a transfer goes on after either side was killed; nothing is used before its hash is
// right. May be used from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string_view>

#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"

namespace nightjar::service {

class Uploads {
 public:
  // Makes the folder if it is missing. Removes what nobody has added to for two days.
  explicit Uploads(std::filesystem::path folder);

  // Appends `part` if the file ends at `offset`. Returns how many bytes are there now, which is
  // where the next part begins. Throws std::runtime_error with the path if the disk refuses.
  std::uint64_t append(JobId job, const Sha256& sha256, std::uint64_t offset,
                       std::string_view part);
  std::filesystem::path file(JobId job, const Sha256& sha256) const;
  // Whether all of the file is what its hash says. A wrong one is removed.
  bool verify(JobId job, const Sha256& sha256);
  // What came of a job's wheels is taken, or wanted no more.
  void remove(JobId job);

 private:
  const std::filesystem::path folder_;
  std::mutex mutex_;
};

// Where the log of a build job's last attempt lies; the file need not be there.
std::filesystem::path log_file(const std::filesystem::path& data, JobId job);

}  // namespace nightjar::service
