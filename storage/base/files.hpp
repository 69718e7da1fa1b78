// Small file work that must be right: reading whole files, writing them so that a crash leaves the
// old or the new one, and folders that vanish with their owner.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace nightjar {

// nullopt if it cannot be read, or has more than `most` bytes. Reads to the end whatever the size
// says, so /proc and /sys work too.
std::optional<std::string> read_file(const std::filesystem::path& path,
                                     std::size_t most = std::string::npos - 1);
// The first line of a small file without its end, such as one of /proc or /sys: at most 4096 bytes.
// Empty if it cannot be read.
std::string read_line(const std::filesystem::path& path);
// Waits until the bytes of a file, or the names in a folder, are on the disk. This and the next two
// throw std::system_error that names the path.
void sync(const std::filesystem::path& path);
// Waits until all that was written below `folder` is on the disk; throws as sync() does. It asks
// for the whole file system, which for thousands of files is far faster than one by one.
void sync_file_system(const std::filesystem::path& folder);
// Syncs `from`, renames it over `to` and syncs the folder: a crash leaves the old file or the new.
void move_durably(const std::filesystem::path& from, const std::filesystem::path& to);
// Writes beside `path` and moves that over it durably.
void write_durably(const std::filesystem::path& path, std::string_view text, mode_t mode = 0644);

// What this process may still write to the disk of a folder; nullopt if that cannot be told.
std::optional<std::int64_t> free_bytes(const std::filesystem::path& folder);

// Takes others' rights to a file or a folder away, as far as it is there. False if that failed.
bool close_to_others(const std::filesystem::path& path);

// Checks a file that a person named, before the work whose result it takes. Empty if write_output()
// can write there; else one line that names the path and says what to do. Writes nothing.
std::string output_problem(const std::filesystem::path& path);
// Writes like write_durably(), through symbolic links. A file that is not a regular one
// (/dev/stdout, a pipe) is written to in place.
void write_output(const std::filesystem::path& path, std::string_view text);

// Folders for unfinished work: `<root>/<process>-<number>`, where <process> tells a live owner from
// a dead one. What a killed process left there is garbage that remove_leftovers() deletes.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& root);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

  static void remove_leftovers(const std::filesystem::path& root);

 private:
  std::filesystem::path path_;
};

}  // namespace nightjar
