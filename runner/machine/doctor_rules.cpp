#include "runner/machine/doctor_rules.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

namespace nightjar::runner {
namespace {
constexpr double gib = 1 << 30;

// The kernel's word for simultaneous multithreading in a sentence.
std::string smt_text(const std::string& control) {
  if (control == "none") return "SMT: not under this system's control";
  if (control == "forceoff") return "SMT is off until the next boot";
  if (control == "notsupported") return "SMT is not supported";
  if (control == "notimplemented") return "SMT is not implemented";
  return "SMT is " + control;
}

}  // namespace

std::string decimals(double value, int digits, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f%s", digits, value, unit);
  return text;
}

std::string listed(const std::vector<std::string>& names) {
  std::map<std::string, int> counts;
  for (const auto& name : names) ++counts[name];
  std::string text;
  for (const auto& [name, count] : counts)
    text += (text.empty() ? "" : ", ") + name + (count > 1 ? " ×" + std::to_string(count) : "");
  return text.empty() ? "none" : text;
}

void examine_cpu(const Health& health, Findings& out) {
  const auto fact = [&](const char* name) {
    const auto found = health.facts.find(name);
    return found == health.facts.end() ? std::string("none") : found->second;
  };
  const auto extra = [&](const char* name) {
    const auto found = health.state.extra.find(name);
    return found == health.state.extra.end() ? 0 : std::atoll(found->second.c_str());
  };
  // A guest has no say in what its host's cores do.
  const bool guest = fact("hypervisor") == "yes";
  const FindingClass of_the_core = guest ? FindingClass::not_mendable : FindingClass::harmful;
  const std::string governor = fact("governor");
  out.judge(governor != "none" && governor != "performance",
            governor == "none" ? "CPU governor: not under this system's control"
                               : "CPU governor is '" + governor + "'",
            "cpupower frequency-set -g performance");
  out.judge(fact("turbo") == "on",
            fact("turbo") == "none" ? "turbo: not under this system's control"
                                    : "turbo is " + fact("turbo"),
            "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > "
            "/sys/devices/system/cpu/cpufreq/boost: clocks then depend less on heat and neighbours",
            of_the_core);
  out.judge(
      fact("smt") == "on", smt_text(fact("smt")),
      "echo off > /sys/devices/system/cpu/smt/control: a sibling thread takes half a core away",
      of_the_core);
  const int cpus = std::atoi(fact("cpu_count").c_str());
  out.judge(cpus < 2, "CPUs that may be used: " + std::to_string(cpus),
            "give this machine a second CPU: runner and workload share one");
  out.judge(health.cpu_quota.has_value(),
            health.cpu_quota
                ? "CPU quota: " + decimals(*health.cpu_quota, 2, " CPUs") + ", stopped " +
                      std::to_string(health.times_throttled) + " times so far"
                : "CPU quota: none",
            "remove it (CPUQuota=, --cpus): who has used it up stands still for up to 100 ms; give "
            "whole CPUs instead (AllowedCPUs=, --cpuset-cpus)");
  out.judge(!health.may_pin,
            health.may_pin ? "runs can be pinned to CPUs" : "runs cannot be pinned",
            "allow sched_setaffinity: the container's system call filter forbids it");
  out.judge(extra("cpu_throttle_count") > 0,
            "the CPU slowed down for heat " + std::to_string(extra("cpu_throttle_count")) +
                " times since boot",
            "it was some time since boot; if the number grows: better cooling, or a lower fixed "
            "frequency",
            FindingClass::worth_knowing);
  if (const double heat = static_cast<double>(extra("temperature_millicelsius")) / 1000; heat > 0)
    out.judge(heat > 85, "CPU temperature: " + decimals(heat, 0, " °C"),
              "better cooling: near 95 °C clocks go down");
  const std::string& clock = health.clock_source;
  static const std::set<std::string> fast{"", "tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
                                          "arch_sys_counter"};
  out.judge(!fast.contains(clock), "clock source: " + (clock.empty() ? "unknown" : clock),
            "boot with tsc=reliable: reading this clock is a system call of a microsecond or more",
            of_the_core);
  out.judge(
      health.address_layout == "0",
      health.address_layout == "0" ? "address layout is fixed" : "address layout differs by run",
      "sysctl kernel.randomize_va_space=2: with one layout for all runs its luck looks like a "
      "change; many layouts average out");
  out.judge(guest, "virtual machine: " + fact("hypervisor"), "expect more noise than on bare metal",
            FindingClass::not_mendable);
}

void examine_others(const Health& health, Findings& out) {
  const double cpus =
      std::atof(health.facts.contains("cpu_count") ? health.facts.at("cpu_count").c_str() : "0");
  out.judge(health.state.load1 > 0.5 * cpus, "load is " + decimals(health.state.load1, 1, ""),
            "end what else is running, or measure when it is over");
  out.judge(health.state.steal_share > 0.01,
            "CPU time stolen by the host: " + decimals(health.state.steal_share * 100, 1, " %"),
            "this virtual machine shares its CPUs; ask its provider for dedicated ones",
            FindingClass::not_mendable);
  out.judge(!health.compilers.empty(), "compilers running: " + listed(health.compilers),
            "let them end: measuring and compiling at once spoils the measurement");
  out.judge(
      !health.lock_holder.empty(),
      "job of ours on this machine: " + (health.lock_holder.empty() ? "none" : health.lock_holder),
      "what measures or compiles next waits for it", FindingClass::worth_knowing);
}

void examine_memory(const Health& health, Findings& out) {
  const std::string thp = health.facts.contains("thp") ? health.facts.at("thp") : "none";
  out.judge(
      thp == "always", "transparent huge pages: " + thp,
      "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled: peak memory repeats better");
  const bool several = health.facts.contains("numa_nodes") && health.facts.at("numa_nodes") > "1";
  out.judge(health.numa_balancing && several,
            health.numa_balancing ? "NUMA balancing is on" : "NUMA balancing is off",
            "sysctl kernel.numa_balancing=0: the kernel moves pages while iterations are timed");
  out.judge(
      health.swap_used_bytes > 0,
      "swap in use: " + decimals(static_cast<double>(health.swap_used_bytes) / gib, 2, " GiB"),
      "swapoff -a: what is paged out counts neither as memory nor in time that repeats");
  const double memory = static_cast<double>(health.free_memory_bytes) / gib;
  out.judge(memory < 2, "free memory: " + decimals(memory, 1, " GiB"),
            "free 2 GiB: compiling native workloads takes 1.2 GiB a unit");
  const double disk = static_cast<double>(health.free_disk_bytes) / gib;
  out.judge(disk < 5, "free disk for " + health.cache.string() + ": " + decimals(disk, 1, " GiB"),
            "free 5 GiB or name another folder with --cache: an environment takes 1 to 5 GiB");
}

void examine_tools(const Health& health, Findings& out) {
  out.judge(!health.missing_tools.empty(),
            health.missing_tools.empty() ? "tools that compile native workloads: all there"
                                         : "missing tools: " + listed(health.missing_tools),
            "apt-get install g++ cmake ninja-build; without them native workloads are unavailable");
  out.judge(
      health.python_headers.empty(),
      "Python's headers: " + (health.python_headers.empty() ? "not there" : health.python_headers),
      "apt-get install python3-dev, or a Python that has them for --python (now " +
          health.python.string() + "): torch.compile needs them");
  out.judge(!health.unconfined.empty(),
            health.unconfined.empty()
                ? "builds under test run confined: no network, no view of this runner's secrets"
                : "builds under test cannot be confined: " + health.unconfined,
            health.to_confine + "; until then a hostile build can use this runner's token",
            FindingClass::worth_knowing);
  out.judge(!health.ccache, health.ccache ? "ccache: there" : "ccache: not there",
            "apt-get install ccache: builds from source then take less time",
            FindingClass::worth_knowing);
}

}  // namespace nightjar::runner
