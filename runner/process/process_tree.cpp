#include "runner/process/process_tree.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <map>
#include <signal.h>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

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
  std::vector<pid_t> family{root};
  for (const pid_t orphan : own_children())
    if (orphan != root && !known.contains(orphan)) family.push_back(orphan);
  Weight weight;
  std::int64_t largest_shared = 0;
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  for (std::size_t i = 0; i < family.size() && weight.processes <= most; ++i) {
    const std::string statm = read_line("/proc/" + std::to_string(family[i]) + "/statm");
    long long total = 0, resident = 0, shared = 0;
    if (std::sscanf(statm.c_str(), "%lld %lld %lld", &total, &resident, &shared) != 3) continue;
    weight.bytes += (resident - shared) * page;
    largest_shared = std::max<std::int64_t>(largest_shared, shared * page);
    ++weight.processes;
    add_children(family[i], family);
  }
  weight.bytes += largest_shared;
  return weight;
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
