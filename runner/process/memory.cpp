#include "runner/process/memory.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "storage/base/files.hpp"

namespace nightjar::runner {
namespace {

constexpr std::int64_t mib = 1 << 20;

// The number behind `field` at the begin of a line; nullopt if there is no such line.
std::optional<std::int64_t> number_of(const std::string& text, const std::string& field) {
  auto at = ("\n" + text).find("\n" + field);
  if (at == std::string::npos) return std::nullopt;
  at = text.find_first_not_of(' ', at + field.size());
  std::int64_t number = 0;
  if (at == std::string::npos ||
      std::from_chars(text.data() + at, text.data() + text.size(), number).ec != std::errc())
    return std::nullopt;
  return number;
}

// Returns a field of /proc/meminfo, in bytes.
std::optional<std::int64_t> meminfo(const std::string& field) {
  const auto kilobytes = number_of(read_file("/proc/meminfo").value_or(""), field + ":");
  return kilobytes ? std::optional(*kilobytes * 1024) : std::nullopt;
}

std::string statistics_of(const OwnGroup& group) {
  return read_file(group.folder / "memory.stat").value_or("");
}

// A number of a group's statistics with what its parts have, in bytes.
std::optional<std::int64_t> statistic(const OwnGroup& group, const std::string& text,
                                      const std::string& field) {
  return number_of(text, (group.unified ? "" : "total_") + field + " ");
}

// nullopt: the group has none. "max" and huge numbers are none.
std::optional<std::int64_t> limit_of(const OwnGroup& group, std::int64_t total) {
  const char* file = group.unified ? "memory.max" : "memory.limit_in_bytes";
  const auto bytes = number_of(read_line(group.folder / file), "");
  return bytes && *bytes > 0 && *bytes < total ? bytes : std::nullopt;
}

// What the group's processes could still have: files that are only kept for later make room.
std::int64_t available_in(const OwnGroup& group, std::int64_t limit) {
  const char* file = group.unified ? "memory.current" : "memory.usage_in_bytes";
  const std::string text = statistics_of(group);
  std::int64_t left = limit - number_of(read_line(group.folder / file), "").value_or(0);
  for (const char* field : {"inactive_file", "active_file", "slab_reclaimable"})
    left += statistic(group, text, field).value_or(0);
  return std::max<std::int64_t>(left, 0);
}

}  // namespace

MemoryBudget budget_of(std::int64_t total) {
  if (total <= 0) return {};
  const auto reserve = std::clamp(total / 16, 128 * mib, 8192 * mib);
  return {std::max(total - reserve, total / 2), reserve / 2};
}

std::int64_t memory_of_machine() {
  std::int64_t total = meminfo("MemTotal").value_or(0);
  for (const OwnGroup& group : own_groups()) total = limit_of(group, total).value_or(total);
  return total;
}

std::int64_t available_memory(const std::vector<OwnGroup>& groups) {
  auto available = meminfo("MemAvailable");
  if (!available) return -1;
  const std::int64_t total = meminfo("MemTotal").value_or(0);
  for (const OwnGroup& group : groups)
    if (const auto limit = limit_of(group, total))
      available = std::min(*available, available_in(group, *limit));
  return *available;
}

std::int64_t shared_memory(const std::vector<OwnGroup>& groups) {
  for (const OwnGroup& group : groups)
    if (const auto bytes = statistic(group, statistics_of(group), "shmem")) return *bytes;
  return meminfo("Shmem").value_or(0);
}

}  // namespace nightjar::runner
