// How many CPUs' worth of time this process's control groups allow. A container may see all CPUs of
// its node and have the time of a few. Used to choose threads and jobs, and by the doctor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

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

// Jobs to run side by side: one for each CPU that this process may use, within its quota.
int jobs_at_once();

}  // namespace nightjar::runner
