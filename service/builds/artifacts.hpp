// Wheels and overlay archives by content, one file each: <folder>/<sha256>. Used by discovery, by
// the overlay rung, and by the route that hands them to runners. May be used from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "storage/model/hex.hpp"
#include "storage/model/time.hpp"

namespace nightjar::service {

class Artifacts {
 public:
  // Makes the folder if it is missing, and removes what a killed process left half-written there.
  // Throws std::runtime_error with the path if it cannot.
  Artifacts(std::filesystem::path folder, std::uint64_t limit_bytes, const Clock& clock);
  Artifacts(const Artifacts&) = delete;
  Artifacts& operator=(const Artifacts&) = delete;

  // A name in the folder that nobody else has, to write a file that add() then takes. What is not
  // added is removed at the next start at the latest.
  std::filesystem::path temporary();
  // Hashes `file`, moves it under its hash (durable once this returns) and makes room for it: the
  // least recently used go first, pinned ones and this one stay. Content that is there already
  // counts as used and `file` is removed. Throws std::runtime_error with the path.
  Sha256 add(const std::filesystem::path& file);
  // The same for a file whose hash was looked at before, and that nobody has changed since.
  void add(const std::filesystem::path& file, const Sha256& sha256);
  // Where the content lies, which counts as a use; nullopt if it is not here. Hashes it at its
  // first use since the start, and if another program wrote to the file: damaged content is
  // removed.
  std::optional<std::filesystem::path> path(const Sha256& sha256);
  // The same, but it does not count as a use.
  std::optional<std::filesystem::path> find(const Sha256& sha256) const;
  bool holds(const Sha256& sha256) const;
  // From now on exactly these stay, whatever the limit says: the wheels of open nights and
  // bisections.
  void pin(std::set<Sha256> pinned);
  std::uint64_t size_bytes() const;
  std::uint64_t limit_bytes() const { return limit_bytes_; }
  // Counts `bytes` of other files against the limit, too, such as wheels on their way, and makes
  // room for them.
  void count_too(std::uint64_t bytes);

 private:
  struct Entry {
    std::uint64_t size_bytes = 0;
    Time used_at{};         // the file's modification time, so that it outlives the process
    bool verified = false;  // the bytes were those of the hash when used_at was written
  };
  void scan();
  bool is_untouched(const Sha256& sha256, const Entry& entry) const;
  void touch(const Sha256& sha256, Entry& entry);
  void make_room(const std::optional<Sha256>& keep);
  std::filesystem::path file_of(const Sha256& sha256) const { return folder_ / sha256.str(); }

  std::filesystem::path folder_;
  std::uint64_t limit_bytes_, beside_bytes_ = 0;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<Sha256, Entry> entries_;
  std::set<Sha256> pinned_;
  std::uint64_t next_temporary_ = 0;
};

}  // namespace nightjar::service
