#include "runner/process/cpu_quota.hpp"

#include <sched.h>
#include <thread>

#include <catch2/catch.hpp>

#include "tests/support/scratch.hpp"

using namespace nightjar;
using namespace nightjar::runner;

TEST_CASE("The smallest quota of all groups counts, and has its own count of stops") {
  const Scratch scratch;
  CHECK_FALSE(cpu_quota(scratch.path()));
  spit(scratch / "proc/self/cgroup", "0::/pods/mine\n");
  spit(scratch / "sys/fs/cgroup/pods/mine/cpu.max", "800000 100000\n");
  spit(scratch / "sys/fs/cgroup/pods/cpu.max", "150000 100000\n");
  spit(scratch / "sys/fs/cgroup/pods/cpu.stat", "usage_usec 5\nnr_throttled 7\n");
  const auto found = cpu_quota(scratch.path());
  REQUIRE(found);
  CHECK(found->cpus == Approx(1.5));
  CHECK(found->times_throttled == 7);
  spit(scratch / "sys/fs/cgroup/pods/cpu.max", "max 100000\n");
  CHECK(cpu_quota(scratch.path())->cpus == Approx(8));
}

TEST_CASE("A group of the older kind has a quota in two files") {
  const Scratch scratch;
  spit(scratch / "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  spit(scratch / "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK_FALSE(cpu_quota(scratch.path()));
  spit(scratch / "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n");
  CHECK(cpu_quota(scratch.path())->cpus == Approx(4));
}

TEST_CASE("The CPUs of the machine on which this process may not run are none of its own") {
  const int all = usable_cpus();
  const std::vector<int> allowed = allowed_cpus();
  CHECK((all >= 1 && all <= static_cast<int>(allowed.size())));
  std::thread pinned([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(allowed.back()), &one);
    ::sched_setaffinity(0, sizeof one, &one);
    CHECK(allowed_cpus() == std::vector{allowed.back()});
    CHECK(usable_cpus() == 1);
  });
  pinned.join();
}

TEST_CASE("Threads are what was asked for, at most what the quota keeps running, at least one") {
  CHECK(threads_within({}, 16) == 16);
  CHECK(threads_within(CpuQuota{4.9, 0}, 16) == 4);
  CHECK(threads_within(CpuQuota{4.9, 0}, 2) == 2);
  CHECK(threads_within(CpuQuota{.5, 0}, 16) == 1);
}
