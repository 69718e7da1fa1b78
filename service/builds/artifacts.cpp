#include "service/builds/artifacts.hpp"

#include <stdexcept>
#include <system_error>
#include <unistd.h>

#include "storage/base/digest.hpp"
#include "storage/base/files.hpp"
#include "storage/base/log.hpp"

namespace nightjar::service {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view temporary_prefix = "tmp-";

[[noreturn]] void fail(const std::string& attempt, const fs::path& path,
                       const std::error_code& error) {
  throw std::runtime_error("cannot " + attempt + " " + path.string() + ": " + error.message());
}

Time time_of(fs::file_time_type written) {
  return std::chrono::time_point_cast<Time::duration>(std::chrono::file_clock::to_sys(written));
}

}  // namespace

Artifacts::Artifacts(fs::path folder, std::uint64_t limit_bytes, const Clock& clock)
    : folder_(std::move(folder)), limit_bytes_(limit_bytes), clock_(clock) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) fail("make the artifact folder", folder_, error);
  scan();
}

void Artifacts::scan() {
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code gone;
    if (name.starts_with(temporary_prefix)) {
      fs::remove(at->path(), gone);
    } else if (const auto sha256 = Sha256::parse(name); sha256 && at->is_regular_file(gone)) {
      entries_[*sha256] = {at->file_size(), time_of(at->last_write_time())};
    }
  }
  if (error) fail("list", folder_, error);
}

fs::path Artifacts::temporary() {
  const std::lock_guard lock(mutex_);
  return folder_ / (std::string(temporary_prefix) + std::to_string(::getpid()) + "-" +
                    std::to_string(next_temporary_++));
}

Sha256 Artifacts::add(const fs::path& file) {
  const Sha256 sha256 = digest_of_file(file);
  sync(file);  // without the lock: a wheel takes seconds
  add(file, sha256);
  return sha256;
}

void Artifacts::add(const fs::path& file, const Sha256& sha256) {
  const std::lock_guard lock(mutex_);
  std::error_code error;
  const auto size_bytes = fs::file_size(file, error);
  if (error) fail("read the size of", file, error);
  fs::permissions(file, fs::perms::owner_read | fs::perms::group_read, error);
  move_durably(file, file_of(sha256));  // replaces what is there by the same bytes
  Entry& entry = entries_[sha256];
  entry.size_bytes = size_bytes;
  entry.verified = true;
  touch(sha256, entry);
  make_room(sha256);
}

std::optional<fs::path> Artifacts::path(const Sha256& sha256) {
  fs::path file = file_of(sha256);
  std::unique_lock lock(mutex_);
  auto found = entries_.find(sha256);
  if (found == entries_.end()) return std::nullopt;
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {  // somebody tidied up by hand
    entries_.erase(found);
    return std::nullopt;
  }
  if (!is_untouched(sha256, found->second)) {
    lock.unlock();  // a wheel takes a second
    const bool intact = digest_of_file(file) == sha256;
    lock.lock();
    found = entries_.find(sha256);
    if (found == entries_.end()) return std::nullopt;
    if (!intact) {
      log::warn("artifact damaged path={} removed=true", file.string());
      fs::remove(file, error);
      entries_.erase(found);
      return std::nullopt;
    }
    found->second.verified = true;
  }
  touch(sha256, found->second);
  return file;
}

bool Artifacts::is_untouched(const Sha256& sha256, const Entry& entry) const {
  std::error_code error;
  const auto written = fs::last_write_time(file_of(sha256), error);
  return entry.verified && !error && time_of(written) == entry.used_at;
}

std::optional<fs::path> Artifacts::find(const Sha256& sha256) const {
  return holds(sha256) ? std::optional(file_of(sha256)) : std::nullopt;
}

bool Artifacts::holds(const Sha256& sha256) const {
  const std::lock_guard lock(mutex_);
  std::error_code error;
  return entries_.contains(sha256) && fs::is_regular_file(file_of(sha256), error);
}

void Artifacts::pin(std::set<Sha256> pinned) {
  const std::lock_guard lock(mutex_);
  pinned_ = std::move(pinned);
}

std::uint64_t Artifacts::size_bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [sha256, entry] : entries_) sum += entry.size_bytes;
  return sum;
}

void Artifacts::touch(const Sha256& sha256, Entry& entry) {
  entry.used_at = clock_.now();
  std::error_code ignored;  // a use that is forgotten at a restart costs a download at most
  fs::last_write_time(file_of(sha256),
                      std::chrono::file_clock::from_sys(
                          std::chrono::time_point_cast<std::chrono::nanoseconds>(entry.used_at)),
                      ignored);
}

void Artifacts::count_too(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  beside_bytes_ = bytes;
  make_room(std::nullopt);
}

void Artifacts::make_room(const std::optional<Sha256>& keep) {
  std::uint64_t sum = beside_bytes_;
  for (const auto& [sha256, entry] : entries_) sum += entry.size_bytes;
  while (sum > limit_bytes_) {
    auto oldest = entries_.end();
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (at->first == keep || pinned_.contains(at->first)) continue;
      if (oldest == entries_.end() || at->second.used_at < oldest->second.used_at) oldest = at;
    }
    if (oldest == entries_.end()) return;
    std::error_code error;
    fs::remove(file_of(oldest->first), error);  // a reader that has it open reads on
    if (error) fail("remove the artifact", file_of(oldest->first), error);
    sum -= oldest->second.size_bytes;
    entries_.erase(oldest);
  }
}

}  // namespace nightjar::service
