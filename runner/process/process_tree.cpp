#include "runner/process/process_tree.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <map>
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

std::vector<pid_t> numbers_in(const char* folder) {
  std::vector<pid_t> out;
  DIR* dir = ::opendir(folder);
  if (!dir) return out;
  while (const dirent* entry = ::readdir(dir))
    if (const int number = std::atoi(entry->d_name); number > 0) out.push_back(number);
  ::closedir(dir);
  return out;
}

struct Stat {
  char state = 'X';
  pid_t parent = 0, session = 0;
};

Stat stat_of(pid_t pid) {
  const std::string line = read_line("/proc/" + std::to_string(pid) + "/stat");
  const auto at = line.rfind(')');
  Stat stat;
  int group = 0;
  if (at != std::string::npos)
    std::sscanf(line.c_str() + at + 1, " %c %d %d %d", &stat.state, &stat.parent, &group,
                &stat.session);
  return stat;
}

// Needs CONFIG_PROC_CHILDREN, which distributions set; without it only `root` itself is weighed.
void add_children(pid_t pid, std::vector<pid_t>& out) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const pid_t task : numbers_in(tasks.c_str())) {
    const auto text = read_file(tasks + "/" + std::to_string(task) + "/children");
    if (!text) continue;
    std::istringstream in(*text);
    for (pid_t child; in >> child;) out.push_back(child);
  }
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

// The share of a process in the pages that it has, in bytes; its own pages if it does not tell.
std::int64_t proportional_bytes(pid_t pid) {
  const auto text = read_file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  const auto at = text ? text->find("\nPss:") : std::string::npos;
  if (at == std::string::npos) return resident_of(pid).value_or(Resident{}).own;
  return std::atoll(text->c_str() + at + 5) * 1024;
}

// `root` and the orphans of its descendants.
std::vector<pid_t> heads_of(pid_t root, const std::set<pid_t>& known) {
  std::vector<pid_t> heads{root};
  for (const pid_t orphan : own_children())
    if (orphan != root && !known.contains(orphan)) heads.push_back(orphan);
  return heads;
}

}  // namespace

std::set<pid_t> own_children() {
  std::vector<pid_t> children;
  add_children(::getpid(), children);
  return {children.begin(), children.end()};
}

std::vector<pid_t> family_of(pid_t root, const std::set<pid_t>& known) {
  std::map<pid_t, Stat> all;
  for (const pid_t pid : numbers_in("/proc")) all[pid] = stat_of(pid);
  const pid_t self = ::getpid();
  const auto belongs = [&](pid_t pid) {
    for (int depth = 0; depth < 1000; ++depth) {
      const auto found = all.find(pid);
      if (pid == root) return true;
      if (found == all.end()) return false;
      if (found->second.session == root) return true;
      if (found->second.parent == self) return !known.contains(pid);
      pid = found->second.parent;
    }
    return false;
  };
  std::vector<pid_t> family;
  for (const auto& [pid, stat] : all)
    if (pid != self && belongs(pid)) family.push_back(pid);
  return family;
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

std::int64_t exact_bytes(pid_t root, const std::set<pid_t>& known, int most) {
  std::vector<pid_t> family = heads_of(root, known);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < family.size() && std::cmp_less_equal(i, most); ++i) {
    bytes += proportional_bytes(family[i]);
    add_children(family[i], family);
  }
  return bytes;
}

void kill_family(pid_t root, const std::set<pid_t>& known) {
  // The group's signal is atomic against fork; only processes that left the group need the passes.
  ::kill(-root, SIGKILL);
  for (int pass = 0; pass < 500; ++pass) {
    bool alive = false;
    for (const pid_t pid : family_of(root, known)) {
      const Stat stat = stat_of(pid);
      if (pid == root && stat.state == 'Z') continue;  // the caller reaps it
      if (stat.state != 'Z' && stat.state != 'X') {
        ::kill(pid, SIGKILL);
        alive = true;
      }
      if (pid != root && stat.parent == ::getpid()) ::waitpid(pid, nullptr, WNOHANG);
    }
    if (!alive) return;
    ::usleep(2000);
  }
}

}  // namespace nightjar::runner
