#include "runner/build/marker.hpp"

#include <algorithm>
#include <tuple>

#include "storage/base/files.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;

std::optional<Marker> read_marker(const fs::path& folder) {
  const auto text = read_file(folder / "complete");
  if (!text) return std::nullopt;
  const auto json = parse_foreign(*text);
  if (!json.is_object()) return std::nullopt;
  return Marker{field_or(json, "bytes", std::int64_t{0}), json.value("base", std::string()),
                json.value("imports", std::string())};
}

void write_marker(const fs::path& folder, const Marker& marker) {
  const nlohmann::json json{
      {"bytes", marker.bytes}, {"base", marker.base}, {"imports", marker.imports}};
  write_durably(folder / "complete", json.dump() + "\n");
}

void touch_marker(const fs::path& folder) {
  std::error_code ignored;
  fs::last_write_time(folder / "complete", fs::file_time_type::clock::now(), ignored);
}

std::vector<CachedEnvironment> cached_environments(const fs::path& env_folder) {
  std::vector<CachedEnvironment> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(env_folder, error)) {
    const auto used = fs::last_write_time(entry.path() / "complete", error);
    if (const auto marker = read_marker(entry.path()); marker && !error)
      out.push_back({entry.path().filename().string(), *marker, used});
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.used, a.marker.base.empty(), a.key) <
           std::tuple(b.used, b.marker.base.empty(), b.key);
  });
  return out;
}

}  // namespace nightjar::runner
