// What kind of machine this is, by facts. Some of them make its class, which series never mix.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace nightjar::runner {

// Reads what this process may use, and else /proc and /sys: cpu_model, cpu_count (those it may run
// on), cpu_quota (if there is one, in CPUs), smt, numa_nodes, governor, turbo, kernel, memory_bytes
// (of the machine, or of a control group that has less; rounded to 256 MiB, because a kernel's own
// share differs from boot to boot), thp, libc, arch, hypervisor, microcode, firmware, the models
// and driver of the GPUs that workloads may see, and how runs are threaded and pinned.
std::map<std::string, std::string> machine_facts();

// Reads firmware facts from /proc and /sys below `root`; "none" if they are not there. "microcode"
// is the revision that the CPU runs. "firmware" has vendor, version and date of the board's BIOS or
// UEFI.
std::map<std::string, std::string> firmware_facts(const std::filesystem::path& root);

// Where a run of `threads` threads is pinned: the last allowed CPUs, since the first ones tend to
// serve interrupts. All of them if there are no more than that.
std::vector<int> cpus_for(int threads);

}  // namespace nightjar::runner
