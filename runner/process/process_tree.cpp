#include "runner/process/process_tree.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <optional>
#include <signal.h>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "storage/base/files.hpp"

namespace nightjar::runner {
namespace {

constexpr int kill_passes = 20'000, passes_at_once = 10;

std::vector<pid_t> numbers_in(const char* folder) {
  std::vector<pid_t> out;
  DIR* dir = ::opendir(folder);
  if (!dir) return out;
  while (const dirent* entry = ::readdir(dir))
    if (const int number = std::atoi(entry->d_name); number > 0) out.push_back(number);
  ::closedir(dir);
  return out;
}

pid_t parent_of(pid_t pid) {
  const std::string line = read_line("/proc/" + std::to_string(pid) + "/stat");
  const auto at = line.rfind(')');
  pid_t parent = 0;
  if (at != std::string::npos) std::sscanf(line.c_str() + at + 1, " %*c %d", &parent);
  return parent;
}

// False where the kernel does not list them (CONFIG_PROC_CHILDREN, which distributions set).
bool add_children(pid_t pid, std::vector<pid_t>& out) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  bool listed = false;
  for (const pid_t task : numbers_in(tasks.c_str())) {
    const auto text = read_file(tasks + "/" + std::to_string(task) + "/children");
    if (!text) continue;
    listed = true;
    std::istringstream in(*text);
    for (pid_t child; in >> child;) out.push_back(child);
  }
  return listed;
}

struct Resident {
  std::int64_t own = 0, shared = 0;  // bytes
};
std::optional<Resident> resident_of(pid_t pid) {
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  const std::string statm = read_line("/proc/" + std::to_string(pid) + "/statm");
  long long total = 0, resident = 0, shared = 0;
  if (std::sscanf(statm.c_str(), "%lld %lld %lld", &total, &resident, &shared) != 3)
    return std::nullopt;
  return Resident{(resident - shared) * page, shared * page};
}

std::int64_t bytes_of(const std::string& smaps, const char* field) {
  const auto at = smaps.find(field);
  return at == std::string::npos ? 0 : std::atoll(smaps.c_str() + at + std::strlen(field)) * 1024;
}

// The share of a process in the pages that it has; its own pages if it does not tell.
ExactWeight proportional_weight(pid_t pid) {
  const auto text = read_file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  if (!text || text->find("\nPss:") == std::string::npos)
    return {resident_of(pid).value_or(Resident{}).own, 0};
  return {bytes_of(*text, "\nPss:"), bytes_of(*text, "\nPss_Shmem:")};
}

// `root` and the orphans of its descendants.
std::vector<pid_t> heads_of(pid_t root, const std::set<pid_t>& known) {
  std::vector<pid_t> heads{root};
  for (const pid_t orphan : own_children())
    if (orphan != root && !known.contains(orphan)) heads.push_back(orphan);
  return heads;
}

bool has_ended(pid_t child) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == child;
}

}  // namespace

std::set<pid_t> own_children() {
  std::vector<pid_t> children;
  if (!add_children(::getpid(), children))
    for (const pid_t pid : numbers_in("/proc"))
      if (parent_of(pid) == ::getpid()) children.push_back(pid);
  return {children.begin(), children.end()};
}

Weight weigh(pid_t root, const std::set<pid_t>& known, int most) {
  std::vector<pid_t> family = heads_of(root, known);
  Weight weight;
  std::int64_t largest_shared = 0;
  for (std::size_t i = 0; i < family.size() && weight.processes <= most; ++i) {
    const auto resident = resident_of(family[i]);
    if (!resident) continue;
    weight.bytes += resident->own;
    largest_shared = std::max(largest_shared, resident->shared);
    ++weight.processes;
    add_children(family[i], family);
  }
  weight.bytes += largest_shared;
  return weight;
}

ExactWeight exact_weight(pid_t root, const std::set<pid_t>& known, int most) {
  std::vector<pid_t> family = heads_of(root, known);
  ExactWeight weight;
  for (std::size_t i = 0; i < family.size() && std::cmp_less_equal(i, most); ++i) {
    const ExactWeight one = proportional_weight(family[i]);
    weight.bytes += one.bytes;
    weight.shared_memory += one.shared_memory;
    add_children(family[i], family);
  }
  return weight;
}

// Whoever is alive has a parent, and so on up to a child of ours: a process that ends hands its own
// children to this one, and stays our child until it is reaped here. So once no child is left
// nobody is, however fast processes fork and end.
void kill_family(pid_t root, const std::set<pid_t>& known) {
  ::kill(-root, SIGKILL);  // atomic against fork
  for (int pass = 0; pass < kill_passes; ++pass) {
    bool left = !has_ended(root);  // asked first: its children are ours only afterwards
    for (const pid_t child : own_children()) {
      if (known.contains(child)) continue;
      ::kill(child, SIGKILL);
      if (child == root) continue;  // the caller reaps it
      ::waitpid(child, nullptr, WNOHANG);
      left = true;
    }
    if (!left) return;
    if (pass % passes_at_once == passes_at_once - 1) ::usleep(1000);
  }
}

}  // namespace nightjar::runner
