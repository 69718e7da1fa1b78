#include "runner/process/own_groups.hpp"

#include <sstream>
#include <string>

#include "storage/base/files.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

void add_groups(const fs::path& root, const std::string& path, bool unified,
                std::vector<OwnGroup>& out) {
  const char* counter = unified ? "memory.current" : "memory.usage_in_bytes";
  for (fs::path group = (root / path).lexically_normal();; group = group.parent_path()) {
    std::error_code error;
    if (fs::exists(group / counter, error)) out.push_back({group, unified});
    if (group.string().size() <= root.string().size()) return;
  }
}

}  // namespace

// In a container the path may be one outside of it. Then only its root is there, which is the
// container's own group.
std::vector<OwnGroup> own_groups() {
  const fs::path unified = "/sys/fs/cgroup";
  std::vector<OwnGroup> out;
  std::istringstream lines(read_file("/proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find(":/");
    if (at == std::string::npos) continue;
    const std::string path = line.substr(at + 2);
    if (line.starts_with("0::")) add_groups(unified, path, true, out);
    if (line.find(":memory:") != std::string::npos)
      add_groups(unified / "memory", path, false, out);
  }
  return out;
}

}  // namespace nightjar::runner
