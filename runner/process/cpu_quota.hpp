// How many CPUs' worth of time this process's control groups allow, and on which CPUs it may run. A
// container may run on all CPUs of its node and have the time of a few. Used to choose threads and
// jobs, and by the doctor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace nightjar::runner {

struct CpuQuota {
  double cpus = 0;                   // CPUs' worth of time
  std::int64_t times_throttled = 0;  // since the group was made
};

// The smallest quota of this process's group and all above it; nullopt: no limit. `root` has proc
// and sys.
std::optional<CpuQuota> cpu_quota(const std::filesystem::path& root = "/");

// `wanted` threads, at most what the quota can keep running, at least 1.
int threads_within(const std::optional<CpuQuota>& quota, int wanted);

// The CPUs on which this process may run, in order. The machine may have more.
std::vector<int> allowed_cpus();

// How many threads or jobs this process can keep running: one for each CPU on which it may run,
// within its quota, at least 1.
int usable_cpus();

}  // namespace nightjar::runner
