// The file `complete` of a cached environment: its size, what it lies on, and what it was imported
// with. Its modification time is when the environment was last used.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace nightjar::runner {

struct Marker {
  std::int64_t bytes = 0;  // of its own files, without hard links to its base
  std::string base;        // key of the environment that an overlay lies on
  std::string imports;     // the Python that could import it; empty: not tried
};

std::optional<Marker> read_marker(const std::filesystem::path& folder);
void write_marker(const std::filesystem::path& folder, const Marker& marker);
// Notes that the environment is used now.
void touch_marker(const std::filesystem::path& folder);

struct CachedEnvironment {
  std::string key;
  Marker marker;
  std::filesystem::file_time_type used;
};
// Longest unused first; an overlay before its base if both were used at the same time.
std::vector<CachedEnvironment> cached_environments(const std::filesystem::path& env_folder);

}  // namespace nightjar::runner
