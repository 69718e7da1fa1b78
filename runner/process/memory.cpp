#include "runner/process/memory.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>

#include "storage/base/files.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// Returns a field of /proc/meminfo, in bytes.
std::optional<std::int64_t> meminfo(std::string_view field) {
  const std::string text = read_file("/proc/meminfo").value_or("");
  auto at = text.find(field);
  if (at == std::string::npos) return std::nullopt;
  at = text.find_first_not_of(' ', at + field.size());
  std::int64_t kilobytes = 0;
  if (at == std::string::npos ||
      std::from_chars(text.data() + at, text.data() + text.size(), kilobytes).ec != std::errc())
    return std::nullopt;
  return kilobytes * 1024;
}

// The least limit of `file` in `group` or a group above it. "max" and huge numbers are none.
std::int64_t group_limit(const fs::path& root, fs::path group, const char* file,
                         std::int64_t least) {
  for (;; group = group.parent_path()) {
    const std::string text = read_line(group / file);
    std::int64_t bytes = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), bytes).ec == std::errc() &&
        bytes > 0)
      least = std::min(least, bytes);
    if (group.string().size() <= root.string().size()) return least;
  }
}

}  // namespace

MemoryBudget budget_of(std::int64_t total) {
  if (total <= 0) return {};
  const auto reserve = std::clamp(total / 16, 128 * kMiB, 8192 * kMiB);
  return {std::max(total - reserve, total / 2), reserve / 2};
}

std::int64_t memory_of_machine() {
  std::int64_t total = meminfo("MemTotal:").value_or(0);
  if (total == 0) return 0;
  const fs::path unified = "/sys/fs/cgroup", memory = unified / "memory";
  std::istringstream groups(read_file("/proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(groups, line);) {
    const auto path = line.find(":/");
    if (path == std::string::npos) continue;
    const std::string group = line.substr(path + 2);
    if (line.starts_with("0::")) total = group_limit(unified, unified / group, "memory.max", total);
    if (line.find(":memory:") != std::string::npos)
      total = group_limit(memory, memory / group, "memory.limit_in_bytes", total);
  }
  return total;
}

std::int64_t available_memory() {
  return meminfo("MemAvailable:").value_or(-1);
}

}  // namespace nightjar::runner
