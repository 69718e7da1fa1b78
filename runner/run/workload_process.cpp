#include "runner/run/workload_process.hpp"

#include <algorithm>

#include "runner/machine/fingerprint.hpp"
#include "runner/process/cpu_quota.hpp"
#include "runner/process/driver_environment.hpp"
#include "storage/base/files.hpp"
#include "storage/model/workload_variant.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t most_said = 16 << 20;  // bytes of a run's answer: a profile has most
constexpr int mapped_from = 64 << 10;  // bytes: of peak_memory, each block of this size is mapped

// Where a program that is no Python finds LibTorch, and what that may need.
void add_libtorch(std::map<std::string, std::string>& environment, const RunPlace& place) {
  if (!place.libtorch.empty()) add_library_folders(environment, {place.libtorch});
  add_library_folders(environment, place.gpu_libraries);
}

std::map<std::string, std::string> environment_of(const RunPlace& place, const fs::path& home,
                                                  int threads) {
  auto environment = clean_environment(home);
  for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"})
    environment[name] = std::to_string(threads);
  // os.cpu_count() would be the machine's, whatever a run may use (Python 3.13 and later read
  // this).
  environment["PYTHON_CPU_COUNT"] = std::to_string(cpus_for(threads).size());
  environment["OMP_WAIT_POLICY"] = "passive";
  environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";  // as GpuProbe counts devices
  environment["PYTHONHASHSEED"] = "0";
  environment["PYTHONDONTWRITEBYTECODE"] = "1";
  if (!place.site_packages.empty()) environment["PYTHONPATH"] = place.site_packages.string();
  if (!place.torchbench.empty())
    environment["NIGHTJAR_TORCHBENCH"] = fs::absolute(place.torchbench).string();
  return environment;
}

// Confined, a run sees its own build and no other one, and its home is in memory.
BuildRights rights_at(const RunPlace& place, const fs::path& home) {
  BuildRights rights = place.rights.value();
  auto* const confinement = std::get_if<Confinement>(&rights);
  if (!confinement) return rights;
  confinement->scratch.push_back(home);
  auto& shown = confinement->shown;
  shown.insert(shown.end(), {place.site_packages, place.libtorch, place.native, place.profiled});
  shown.insert(shown.end(), place.gpu_libraries.begin(), place.gpu_libraries.end());
  return rights;
}

}  // namespace

RunLimits limits_for(const WorkloadName& name, RunLimits session) {
  session.threads = threads_of(name).value_or(std::min(session.threads, usable_cpus()));
  return session;
}

ProcessResult run_workload(const RunPlace& place, const std::vector<std::string>& control,
                           const RunTask& task, double fastest_probe, std::stop_token stop) {
  const Workload* workload = task.workload;
  const RunLimits limits = workload ? limits_for(workload->name, *task.limits) : *task.limits;
  const TemporaryFolder home(place.cache / "tmp");
  ProcessSpec spec;
  spec.folder = home.path();
  spec.timeout_seconds = limits.timeout_seconds;
  spec.environment = environment_of(place, home.path(), limits.threads);
  const auto* external = workload ? find_external(place.externals, workload->name) : nullptr;
  if (!workload) {
    spec.command = control;
  } else if (external) {
    ProcessResult missing;
    missing.program_missing = true;
    spec.command = command_line(*external, {place.python, place.site_packages, place.workloads},
                                missing.start_error);
    if (spec.command.empty()) return missing;
    add_libtorch(spec.environment, place);
    spec.folder = external->folder;
    spec.timeout_seconds = external->timeout_seconds.value_or(limits.timeout_seconds);
  } else if (is_native(workload->name) && !task.profile) {
    spec.command = {place.native.string()};
    add_libtorch(spec.environment, place);
  } else {
    const char* program = task.profile ? "run_profile.py" : "run.py";
    spec.command = {place.python.string(), (place.workloads / program).string()};
    if (task.profile && !place.profiled.empty())
      spec.environment["NIGHTJAR_PROFILED"] = fs::absolute(place.profiled).string();
  }
  // Last, so that what a build brings is found first.
  if (workload || task.gpu) add_library_folders(spec.environment, driver_folders());
  spec.input = request_json(task, limits, fastest_probe);
  if (task.blocks) spec.environment["MALLOC_MMAP_THRESHOLD_"] = std::to_string(mapped_from);
  spec.memory_bytes = limits.memory_bytes;
  spec.output_bytes = limits.output_bytes;
  spec.protocol_bytes = most_said;
  spec.cpus = cpus_for(limits.threads);
  // The control workload measures the machine and has no build.
  if (!workload && place.site_packages.empty()) return run_trusted(spec, std::move(stop));
  return run_untrusted(spec, rights_at(place, home.path()), std::move(stop));
}

}  // namespace nightjar::runner
