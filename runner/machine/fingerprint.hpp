// What kind of machine this is, by facts. Some of them make its class, which series never mix.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace nightjar::runner {

// Reads what this process may use, and else /proc and /sys: cpu_model, cpu_count, cpu_quota, smt,
// numa_nodes, governor, turbo, kernel, memory_bytes, thp, libc, arch, hypervisor, microcode,
// firmware, the models and driver of the GPUs that workloads may see, and how runs are threaded and
// pinned. "cpu_count" is of the CPUs that it may run on. "cpu_quota" is in CPUs, and there only if
// there is a quota. "memory_bytes" is of the machine, or of a control group that has less. It is
// rounded to 256 MiB, because a kernel's own share differs from boot to boot.
std::map<std::string, std::string> machine_facts();

// Reads firmware facts from /proc and /sys below `root`; "none" if they are not there. "microcode"
// is the revision that the CPU runs. "firmware" has vendor, version and date of the board's BIOS or
// UEFI.
std::map<std::string, std::string> firmware_facts(const std::filesystem::path& root);

// Where a run of `threads` threads is pinned: the last allowed CPUs, since the first ones tend to
// serve interrupts. All of them if there are no more than that.
std::vector<int> cpus_for(int threads);

}  // namespace nightjar::runner
