#include "runner/process/cpu_quota.hpp"

#include <algorithm>
#include <cstdlib>
#include <sched.h>
#include <string>

#include "storage/base/files.hpp"
#include "storage/base/foreign_number.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

std::int64_t throttled_in(const fs::path& file) {
  const std::string text = "\n" + read_file(file).value_or(""), name = "\nnr_throttled ";
  const auto at = text.find(name);
  return at == std::string::npos ? 0 : std::atoll(text.c_str() + at + name.size());
}

// cgroup v2: "<quota|max> <period>".
std::optional<CpuQuota> quota_of(const fs::path& group) {
  const std::string limit = read_line(group / "cpu.max");
  const double quota = std::strtod(limit.c_str(), nullptr);
  if (quota <= 0) return std::nullopt;
  const auto space = limit.find(' ');
  const double period =
      space == std::string::npos ? 0 : std::strtod(limit.c_str() + space, nullptr);
  return CpuQuota{quota / (period > 0 ? period : 100000), throttled_in(group / "cpu.stat")};
}

// cgroup v1: quota and period in two files; -1 is no limit.
std::optional<CpuQuota> old_quota(const fs::path& group) {
  const double quota = std::strtod(read_line(group / "cpu.cfs_quota_us").c_str(), nullptr);
  const double period = std::strtod(read_line(group / "cpu.cfs_period_us").c_str(), nullptr);
  if (quota <= 0 || period <= 0) return std::nullopt;
  return CpuQuota{quota / period, throttled_in(group / "cpu.stat")};
}

}  // namespace

std::optional<CpuQuota> cpu_quota(const fs::path& root) {
  const fs::path groups = root / "sys/fs/cgroup";
  const std::string line = read_line(root / "proc/self/cgroup");
  std::optional<CpuQuota> least = old_quota(groups / "cpu");
  for (fs::path group = line.starts_with("0::/") ? groups / line.substr(4) : groups;;
       group = group.parent_path()) {
    const auto here = quota_of(group);
    if (here && (!least || here->cpus < least->cpus)) least = here;
    if (group.string().size() <= groups.string().size()) return least;
  }
}

int threads_within(const std::optional<CpuQuota>& quota, int wanted) {
  const int allowed = quota ? clamped_integer<int>(quota->cpus) : wanted;
  return std::max(1, std::min(wanted, allowed));
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  return cpus;
}

// Not std::thread::hardware_concurrency(), which counts the machine's CPUs.
int usable_cpus() {
  return threads_within(cpu_quota(), static_cast<int>(allowed_cpus().size()));
}

}  // namespace nightjar::runner
