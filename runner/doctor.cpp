#include "runner/doctor.hpp"

#include <cstdio>
#include <cstdlib>

namespace nightjar::runner {
namespace {

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", share * 100);
  return text;
}

}  // namespace

std::vector<Finding> examine(const std::map<std::string, std::string>& facts,
                             const MachineState& state) {
  const auto fact = [&](const char* name) {
    const auto found = facts.find(name);
    return found == facts.end() ? std::string("none") : found->second;
  };
  std::vector<Finding> out;
  const auto judge = [&](bool harmful, std::string what, std::string remedy) {
    out.push_back({harmful, std::move(what), harmful ? std::move(remedy) : std::string()});
  };
  const std::string governor = fact("governor"), thp = fact("thp");
  judge(governor != "none" && governor != "performance",
        governor == "none" ? "CPU governor: not under this system's control"
                           : "CPU governor is '" + governor + "'",
        "cpupower frequency-set -g performance");
  judge(fact("turbo") == "on", "turbo is " + fact("turbo"),
        "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > "
        "/sys/devices/system/cpu/cpufreq/boost: clocks then depend less on heat and neighbours");
  judge(fact("smt") == "on", "SMT is " + fact("smt"),
        "echo off > /sys/devices/system/cpu/smt/control: a sibling thread takes half a core away");
  judge(thp == "always", "transparent huge pages: " + thp,
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled: peak memory repeats better");
  const int cpus = std::atoi(fact("cpu_count").c_str());
  judge(cpus < 2, "CPUs that may be used: " + std::to_string(cpus),
        "give this machine a second CPU: runner and workload share one");
  judge(state.load1 > 0.5 * cpus, "load is " + std::to_string(state.load1).substr(0, 4),
        "end what else is running, or measure when it is over");
  judge(state.steal_share > 0.01, "CPU time stolen by the host: " + percent(state.steal_share),
        "this virtual machine shares its CPUs; ask for dedicated ones");
  judge(fact("hypervisor") == "yes", "virtual machine: " + fact("hypervisor"),
        "nothing to do here, but expect more noise than on bare metal");
  return out;
}

std::string findings_text(const std::vector<Finding>& findings, bool& harmful) {
  std::string text;
  harmful = false;
  for (const Finding& finding : findings) {
    text += (finding.harmful ? "harms  " : "fine   ") + finding.what + "\n";
    if (finding.harmful) text += "       mend: " + finding.remedy + "\n";
    harmful = harmful || finding.harmful;
  }
  return text;
}

}  // namespace nightjar::runner
