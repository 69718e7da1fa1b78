#include "runner/process/memory_group.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <iterator>
#include <signal.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "runner/process/own_groups.hpp"
#include "storage/base/fd.hpp"
#include "storage/base/files.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

constexpr const char* group_of_agents = "nightjar-agent";  // what a group is divided into
constexpr std::string_view run_prefix = "nightjar-run-";
constexpr int removals = 100;  // tries, one a millisecond: the kernel lets go a moment later

bool write_setting(const fs::path& file, const std::string& text) {
  const Fd out(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return out && ::write(out.get(), text.data(), text.size()) == std::ssize(text);
}

// In a group of cgroup v2 that shares memory out among its parts there is no process, so this one
// moves to a part first. Others that are in the group are not ours to move.
bool divide(const fs::path& group) {
  const std::string self = std::to_string(::getpid());
  if (read_file(group / "cgroup.procs") != self + "\n") return false;
  const fs::path agents = group / group_of_agents;
  ::mkdir(agents.c_str(), 0755);
  if (write_setting(agents / "cgroup.procs", self) &&
      write_setting(group / "cgroup.subtree_control", "+memory"))
    return true;
  write_setting(group / "cgroup.procs", self);
  ::rmdir(agents.c_str());
  return false;
}

// Whether the process that made it is gone. The group of another agent, or of another search, is
// empty for a moment before its run enters it: to remove it then would lose that run.
bool is_left_over(const std::string& group) {
  if (!group.starts_with(run_prefix)) return false;
  const int owner = std::atoi(group.c_str() + run_prefix.size());
  return owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH;
}

// Groups of runs that an agent could not remove, since it was killed.
void remove_left_over(const fs::path& home) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(home, error))
    if (is_left_over(entry.path().filename().string())) ::rmdir(entry.path().c_str());
}

fs::path find_home() {
  const auto groups = own_groups();
  if (groups.empty()) return {};
  const OwnGroup& own = groups.front();
  fs::path home = own.folder;
  if (own.unified) {
    if (home.filename() == group_of_agents)
      home = home.parent_path();
    else if (!divide(home))
      return {};
  }
  remove_left_over(home);
  return home;
}

// The folder in which groups of runs are made; empty: there is none.
const fs::path& home_of_groups() {
  static const fs::path home = find_home();
  return home;
}

}  // namespace

void make_room_for_groups() {
  home_of_groups();
}

std::optional<MemoryGroup> MemoryGroup::make(std::int64_t most_bytes) {
  const fs::path& home = home_of_groups();
  if (home.empty() || most_bytes <= 0) return std::nullopt;
  const fs::path folder = home / (std::string(run_prefix) + std::to_string(::getpid()));
  ::rmdir(folder.c_str());
  if (::mkdir(folder.c_str(), 0755) != 0) return std::nullopt;
  MemoryGroup group(folder);
  const std::string most = std::to_string(most_bytes);
  if (!write_setting(folder / "memory.max", most) &&
      !write_setting(folder / "memory.limit_in_bytes", most))
    return std::nullopt;
  write_setting(folder / "memory.swap.max", "0");  // there is none where the machine has no swap
  write_setting(folder / "memory.oom.group", "1");
  return group;
}

MemoryGroup::MemoryGroup(MemoryGroup&& other) noexcept
    : folder_(std::exchange(other.folder_, fs::path())) {}

MemoryGroup::~MemoryGroup() {
  if (folder_.empty()) return;
  for (int i = 0; i < removals && ::rmdir(folder_.c_str()) != 0 && errno == EBUSY; ++i)
    ::usleep(1000);
}

bool MemoryGroup::overran() const {
  for (const char* file : {"memory.events", "memory.oom_control"}) {
    const auto text = read_file(folder_ / file);
    const auto at = text ? text->find("oom_kill ") : std::string::npos;
    if (at != std::string::npos) return std::atoll(text->c_str() + at + 9) > 0;
  }
  return false;
}

void MemoryGroup::kill() const {
  write_setting(folder_ / "cgroup.kill", "1");
}

}  // namespace nightjar::runner
