#include "service/builds/uploads.hpp"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "storage/base/digest.hpp"
#include "storage/base/fd.hpp"

namespace nightjar::service {
namespace fs = std::filesystem;
namespace {
constexpr std::chrono::hours kForgotten{48};

[[noreturn]] void refuse(const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), "cannot write " + path.string());
}

std::string prefix_of(JobId job) {
  return std::to_string(job.value) + "-";
}

}  // namespace

Uploads::Uploads(fs::path folder) : folder_(std::move(folder)) {
  fs::create_directories(folder_);
  const auto oldest = fs::file_time_type::clock::now() - kForgotten;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.last_write_time(error) < oldest && !error) fs::remove(entry.path(), error);
}

fs::path Uploads::file(JobId job, const Sha256& sha256) const {
  return folder_ / (prefix_of(job) + sha256.str() + ".part");
}

std::uint64_t Uploads::append(JobId job, const Sha256& sha256, std::uint64_t offset,
                              std::string_view part) {
  const std::lock_guard lock(mutex_);
  const fs::path path = file(job, sha256);
  const Fd out(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  struct stat status {};
  if (!out || ::fstat(out.get(), &status) != 0) refuse(path);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (offset != size) return size;
  for (std::size_t at = 0; at < part.size();) {
    const auto put =
        ::pwrite(out.get(), part.data() + at, part.size() - at, static_cast<off_t>(offset + at));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int reason = errno;
      if (::ftruncate(out.get(), static_cast<off_t>(size)) != 0) fs::remove(path);
      errno = reason;
      refuse(path);
    }
    at += static_cast<std::size_t>(put);
  }
  return size + part.size();
}

bool Uploads::verify(JobId job, const Sha256& sha256) {
  const std::lock_guard lock(mutex_);
  const fs::path path = file(job, sha256);
  if (digest_of_file(path) == sha256) return true;
  fs::remove(path);
  return false;
}

void Uploads::remove(JobId job) {
  const std::lock_guard lock(mutex_);
  std::vector<fs::path> ours;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error))
    if (entry.path().filename().string().starts_with(prefix_of(job))) ours.push_back(entry.path());
  for (const auto& path : ours) fs::remove(path, error);
}

fs::path log_file(const fs::path& data, JobId job) {
  return data / "logs" / (std::to_string(job.value) + ".log");
}

}  // namespace nightjar::service
