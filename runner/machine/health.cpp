#include "runner/machine/health.hpp"

#include <cstdlib>
#include <sched.h>
#include <set>

#include "runner/machine/fingerprint.hpp"
#include "runner/machine/lock.hpp"
#include "runner/machine/state.hpp"
#include "runner/process/cpu_quota.hpp"
#include "runner/process/process.hpp"
#include "runner/process/wait.hpp"
#include "storage/base/child.hpp"
#include "storage/base/files.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

// "<name>: <value> kB" or "<name> <value>" of a file of such lines; 0 if it is not there.
std::int64_t number_after(const fs::path& file, const std::string& name) {
  const std::string text = "\n" + read_file(file).value_or("");
  const auto at = text.find("\n" + name);
  return at == std::string::npos ? 0 : std::atoll(text.c_str() + at + 1 + name.size());
}

std::vector<std::string> running_compilers() {
  static const std::set<std::string> known{"cc1",   "cc1plus", "lto1",  "clang", "clang++",
                                           "rustc", "cicc",    "ptxas", "nvcc",  "ld"};
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (const auto program = read_line(entry.path() / "comm"); known.contains(program))
      out.push_back(program);
  }
  return out;
}

bool is_in_path(const std::string& program) {
  return find_program(program) != program;
}

std::string headers_of(const fs::path& python) {
  ProcessSpec ask =
      trusted_python(python, "import sysconfig; print(sysconfig.get_paths()['include'])");
  ask.timeout_seconds = 30;
  const ProcessResult answer = run_trusted(ask);
  const std::string folder = answer.output.substr(0, answer.output.find('\n'));
  return answer.fine() && fs::exists(fs::path(folder) / "Python.h") ? folder : "";
}

bool can_pin() {
  cpu_set_t cpus;
  return ::sched_getaffinity(0, sizeof cpus, &cpus) == 0 &&
         ::sched_setaffinity(0, sizeof cpus, &cpus) == 0;
}

}  // namespace

Health observe_machine(const fs::path& cache, const fs::path& python) {
  Health health;
  MachineProbe probe;
  wait_for(std::chrono::milliseconds(1000), {});
  health.facts = machine_facts();
  health.state = probe.read();
  health.no_gpu = probe.gpus().missing();
  if (health.no_gpu.empty() && health.state.gpus.empty())
    health.no_gpu = "CUDA_VISIBLE_DEVICES lets none be seen";
  health.clock_source =
      read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  health.numa_balancing = number_after("/proc/sys/kernel/numa_balancing", "") != 0;
  health.address_layout = read_line("/proc/sys/kernel/randomize_va_space");
  if (const auto quota = cpu_quota()) {
    health.cpu_quota = quota->cpus;
    health.times_throttled = quota->times_throttled;
  }
  health.may_pin = can_pin();
  health.free_memory_bytes = number_after("/proc/meminfo", "MemAvailable:") * 1024;
  health.swap_used_bytes =
      (number_after("/proc/meminfo", "SwapTotal:") - number_after("/proc/meminfo", "SwapFree:")) *
      1024;
  health.cache = cache;
  fs::path existing = fs::absolute(cache);
  while (!fs::exists(existing) && existing.has_relative_path()) existing = existing.parent_path();
  health.free_disk_bytes = static_cast<std::int64_t>(fs::space(existing).available);
  health.compilers = running_compilers();
  health.lock_holder = lock_holder(machine_lock_path());
  for (const char* tool : {"c++", "cmake", "ninja"})
    if (!is_in_path(tool)) health.missing_tools.push_back(tool);
  health.ccache = is_in_path("ccache");
  health.python = python;
  health.python_headers = headers_of(python);
  return health;
}

}  // namespace nightjar::runner
