#include "runner/machine/fingerprint.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <gnu/libc-version.h>
#include <set>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "runner/machine/gpu_probe.hpp"
#include "runner/machine/nvml.hpp"
#include "runner/machine/rocm_smi.hpp"
#include "runner/process/cpu_quota.hpp"
#include "runner/process/memory.hpp"
#include "storage/base/files.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {
using Facts = std::map<std::string, std::string>;
const fs::path cpu_folder = "/sys/devices/system/cpu";

// The value of "name : value" in a /proc file of such lines.
std::string field_of(const fs::path& file, std::string_view name) {
  const std::string text = read_file(file).value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const std::string_view line(text.data() + at, end - at);
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && line.starts_with(name) &&
        line.substr(name.size(), colon - name.size()).find_first_not_of(" \t") ==
            std::string_view::npos) {
      const auto begin = line.find_first_not_of(" \t", colon + 1);
      return begin == std::string_view::npos ? "" : std::string(line.substr(begin));
    }
    at = end + 1;
  }
  return {};
}

// "[x]" of "a [x] b", as /sys shows the choice that is active.
std::string chosen(const std::string& line) {
  const auto open = line.find('['), close = line.find(']');
  if (open == std::string::npos || close == std::string::npos) return line;
  return line.substr(open + 1, close - open - 1);
}

std::string or_none(std::string text) {
  return text.empty() ? "none" : text;
}

// "1.50".
std::string cpus_text(double cpus) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", cpus);
  return text;
}

std::string numa_nodes() {
  std::error_code error;
  int nodes = 0;
  for (const auto& entry : fs::directory_iterator("/sys/devices/system/node", error))
    if (const auto name = entry.path().filename().string();
        name.starts_with("node") && name.find_first_not_of("0123456789", 4) == std::string::npos)
      ++nodes;
  return std::to_string(nodes);
}

std::string turbo() {
  if (const auto line = read_line(cpu_folder / "intel_pstate/no_turbo"); !line.empty())
    return line == "0" ? "on" : "off";
  if (const auto line = read_line(cpu_folder / "cpufreq/boost"); !line.empty())
    return line == "1" ? "on" : "off";
  return "none";
}

// Only what this process can use: /proc shows a container all devices of its node.
void add_gpus(Facts& facts) {
  std::vector<GpuState> gpus = Nvml().read();
  if (gpus.empty()) gpus = RocmSmi().read();
  const std::string driver = gpus.empty() ? "" : gpus.front().driver;
  std::multiset<std::string> models;
  for (const std::size_t index : visible_gpus(visible_devices(), gpus))
    models.insert(gpus[index].name);
  std::string list;
  for (const auto& model : models) list += (list.empty() ? "" : ", ") + model;
  facts["gpu"] = or_none(list);
  facts["driver"] = or_none(driver);
}

}  // namespace

std::map<std::string, std::string> firmware_facts(const fs::path& root) {
  const fs::path board = root / "sys/class/dmi/id";
  std::string firmware;
  for (const char* part : {"bios_vendor", "bios_version", "bios_date"})
    if (const std::string line = read_line(board / part); !line.empty())
      firmware += (firmware.empty() ? "" : " ") + line;
  return {{"microcode", or_none(field_of(root / "proc/cpuinfo", "microcode"))},
          {"firmware", or_none(firmware)}};
}

std::map<std::string, std::string> machine_facts() {
  Facts facts = firmware_facts("/");
  utsname name{};
  ::uname(&name);
  facts["arch"] = name.machine;
  facts["kernel"] = name.release;
  const std::string model = field_of("/proc/cpuinfo", "model name");
  facts["cpu_model"] = or_none(model.empty() ? field_of("/proc/cpuinfo", "CPU part") : model);
  facts["cpu_count"] = std::to_string(allowed_cpus().size());
  // Only where there is one, so that machines without it have the facts that they had.
  if (const auto quota = cpu_quota()) facts["cpu_quota"] = cpus_text(quota->cpus);
  facts["smt"] = or_none(read_line(cpu_folder / "smt/control"));
  facts["numa_nodes"] = numa_nodes();
  facts["governor"] = or_none(read_line(cpu_folder / "cpu0/cpufreq/scaling_governor"));
  facts["turbo"] = turbo();
  facts["thp"] = or_none(chosen(read_line("/sys/kernel/mm/transparent_hugepage/enabled")));
  constexpr std::int64_t grain = 256LL << 20;
  facts["memory_bytes"] = std::to_string((memory_of_machine() + grain / 2) / grain * grain);
  facts["libc"] = std::string("glibc ") + ::gnu_get_libc_version();
  facts["hypervisor"] =
      field_of("/proc/cpuinfo", "flags").find(" hypervisor") == std::string::npos ? "no" : "yes";
  facts["pinning"] = "last_cpus";
  facts["omp_wait_policy"] = "passive";
  add_gpus(facts);
  return facts;
}

std::vector<int> cpus_for(int threads) {
  std::vector<int> cpus = allowed_cpus();
  const auto wanted = static_cast<std::size_t>(std::max(threads, 1));
  if (cpus.size() > wanted) cpus.erase(cpus.begin(), cpus.end() - static_cast<long>(wanted));
  return cpus;
}

}  // namespace nightjar::runner
