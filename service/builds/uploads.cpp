#include "service/builds/uploads.hpp"

#include <algorithm>
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
#include "storage/base/files.hpp"

namespace nightjar::service {
namespace fs = std::filesystem;
namespace {
constexpr std::chrono::hours forgotten{48};
constexpr const char* being_hashed = "the wheel is being hashed; ask again later";

[[noreturn]] void refuse(const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), "cannot write " + path.string());
}

std::string prefix_of(JobId job) {
  return std::to_string(job.value) + "-";
}

// In a file's name, behind its job.
std::string mark_of(RunnerId builder) {
  return "-" + std::to_string(builder.value) + "-";
}

}  // namespace

Uploads::Uploads(fs::path folder, UploadLimits limits)
    : folder_(std::move(folder)), limits_(limits) {
  fs::create_directories(folder_);
}

fs::path Uploads::file(const Upload& upload) const {
  return folder_ / (std::to_string(upload.job.value) + mark_of(upload.builder) +
                    upload.sha256.str() + ".part");
}

fs::path Uploads::whole_file(const Upload& upload) const {
  return file(upload).replace_extension(".whole");
}

void Uploads::tidy(const Upload& upload) {
  const auto oldest = fs::file_time_type::clock::now() - forgotten;
  const fs::path ours = file(upload), whole = whole_file(upload);
  std::vector<fs::path> unwanted;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (entry.path() == ours || entry.path() == whole) continue;
    const bool of_job = entry.path().filename().string().starts_with(prefix_of(upload.job));
    const auto written = entry.last_write_time(error);
    if (of_job || (!error && written < oldest)) unwanted.push_back(entry.path());
  }
  for (const auto& path : unwanted) fs::remove(path, error);
}

// `mark`: empty for all.
std::uint64_t Uploads::bytes_of(const std::string& mark) const {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const auto size = entry.file_size(error);
    if (!error && entry.path().filename().string().find(mark) != std::string::npos) bytes += size;
  }
  return bytes;
}

std::uint64_t Uploads::size_bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_of("");
}

std::uint64_t Uploads::append(const Upload& upload, std::uint64_t offset, std::string_view part) {
  const std::lock_guard lock(mutex_);
  tidy(upload);
  if (bytes_of(mark_of(upload.builder)) + part.size() > limits_.each ||
      bytes_of("") + part.size() > limits_.all)
    throw UploadsFull("too many wheels are on their way; send this one later");
  const fs::path path = file(upload);
  if (hashed_.contains(path)) throw UploadsFull(being_hashed);
  std::error_code none;
  if (const auto whole = fs::file_size(whole_file(upload), none); !none) return whole;
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

bool Uploads::finish(const Upload& upload) {
  const fs::path path = file(upload), whole = whole_file(upload);
  std::unique_lock lock(mutex_);
  if (fs::exists(whole)) return true;
  if (!hashed_.insert(path).second) throw UploadsFull(being_hashed);
  lock.unlock();  // a wheel takes seconds, in which others send theirs
  bool right = false;
  try {
    right = digest_of_file(path) == upload.sha256;
    if (right) sync(path);
  } catch (...) {
    lock.lock();
    hashed_.erase(path);
    throw;
  }
  lock.lock();
  hashed_.erase(path);
  if (right)
    move_durably(path, whole);
  else
    fs::remove(path);
  return right;
}

bool Uploads::take(const Upload& upload, const fs::path& target) {
  const std::lock_guard lock(mutex_);
  const fs::path whole = whole_file(upload);
  if (!fs::exists(whole)) return false;
  fs::rename(whole, target);
  return true;
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

void store_log(const fs::path& data, JobId job, std::string_view text, std::uint64_t most_bytes) {
  struct Log {
    fs::file_time_type written;
    std::uint64_t bytes;
    fs::path path;
  };
  const fs::path path = log_file(data, job);
  fs::create_directories(path.parent_path());
  std::vector<Log> others;
  std::uint64_t bytes = text.size();
  for (const auto& entry : fs::directory_iterator(path.parent_path())) {
    std::error_code gone;
    const Log log{entry.last_write_time(gone), entry.file_size(gone), entry.path()};
    if (gone || log.path == path) continue;
    bytes += log.bytes;
    others.push_back(log);
  }
  std::sort(others.begin(), others.end(),
            [](const Log& a, const Log& b) { return a.written < b.written; });
  for (const Log& log : others) {
    if (bytes <= most_bytes) break;
    std::error_code gone;
    fs::remove(log.path, gone);
    bytes -= log.bytes;
  }
  write_durably(path, text);
}

}  // namespace nightjar::service
