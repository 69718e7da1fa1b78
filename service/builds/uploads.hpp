// Wheels on their way from builders, part by part, and the logs of builds. A part is appended to a
// file, so a transfer goes on after either side was killed; nothing is used before its hash is
// right. A whole wheel stays here until its builder has said what came of the job. May be used from
// any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"

namespace nightjar::service {

// A wheel on its way: whoever sends it, and for which build.
struct Upload {
  JobId job;
  RunnerId builder;
  Sha256 sha256;
};

// The most that may be on its way at once, in bytes: of one builder, and of all.
struct UploadLimits {
  std::uint64_t each = 0, all = 0;
};

// There is no room for more; what was there stays.
class UploadsFull : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Uploads {
 public:
  // Makes the folder if it is missing.
  Uploads(std::filesystem::path folder, UploadLimits limits);

  // Appends `part` if the file ends at `offset`. Returns how many bytes are there now, which is
  // where the next part begins. A job has one wheel, whole or not: what came of another hash is
  // removed. So is what nobody has added to for two days. Throws UploadsFull, or std::runtime_error
  // with the path if the disk refuses.
  std::uint64_t append(const Upload& upload, std::uint64_t offset, std::string_view part);
  // Call this when all parts are there. True if the wheel is what its hash says: it is whole from
  // now on. A wrong one is removed. Throws UploadsFull while another caller looks at it.
  bool finish(const Upload& upload);
  // Moves a whole wheel to `target`, on the same file system. False if there is none.
  bool take(const Upload& upload, const std::filesystem::path& target);
  // Returns the size of all uploads on their way.
  std::uint64_t size_bytes() const;
  const UploadLimits& limits() const { return limits_; }
  // What came of a job's wheels is taken, or wanted no more.
  void remove(JobId job);

 private:
  void tidy(const Upload& upload);
  std::uint64_t bytes_of(const std::string& mark) const;
  std::filesystem::path file(const Upload& upload) const;
  std::filesystem::path whole_file(const Upload& upload) const;
  const std::filesystem::path folder_;
  const UploadLimits limits_;
  mutable std::mutex mutex_;
  std::set<std::filesystem::path> hashed_;  // nothing is added to a file while it is hashed
};

// Where the log of a build job's last attempt lies; the file need not be there.
std::filesystem::path log_file(const std::filesystem::path& data, JobId job);
// Writes it. The oldest logs go where all together would have more bytes.
void store_log(const std::filesystem::path& data, JobId job, std::string_view text,
               std::uint64_t most_bytes);

}  // namespace nightjar::service
