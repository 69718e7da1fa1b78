#include "runner/run/process_executor.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <spdlog/spdlog.h>

#include "runner/build/python.hpp"
#include "runner/machine/fingerprint.hpp"
#include "runner/process/failure.hpp"
#include "runner/run/profile.hpp"
#include "storage/base/files.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

ParsedRun refused(RunStatus status, std::string reason) {
  ParsedRun run;
  run.result.status = status;
  run.result.reason = std::move(reason);
  return run;
}

std::string library_path(const RunPlace& place) {
  std::string folders = place.libtorch.string();
  for (const auto& folder : place.gpu_libraries) folders += ":" + folder.string();
  return folders;
}

}  // namespace

ProcessResult run_workload(const RunPlace& place, const std::vector<std::string>& control,
                           const Workload* workload, const RunLimits& limits,
                           const UsualProbes& probes, std::stop_token stop, double slow) {
  const TemporaryFolder home(place.cache / "tmp");
  ProcessSpec spec;
  spec.folder = home.path();
  spec.timeout_seconds = limits.timeout_seconds;
  spec.environment = clean_environment(home.path());
  const std::string threads = std::to_string(limits.threads);
  for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"})
    spec.environment[name] = threads;
  spec.environment["OMP_WAIT_POLICY"] = "passive";
  spec.environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";  // as GpuProbe counts devices
  spec.environment["PYTHONHASHSEED"] = "0";
  spec.environment["PYTHONDONTWRITEBYTECODE"] = "1";
  if (!place.site_packages.empty()) spec.environment["PYTHONPATH"] = place.site_packages.string();
  if (!place.torchbench.empty())
    spec.environment["NIGHTJAR_TORCHBENCH"] = std::filesystem::absolute(place.torchbench).string();
  const auto* external =
      workload && place.externals ? find_external(*place.externals, workload->name) : nullptr;
  if (!workload) {
    spec.command = control;
  } else if (external) {
    ProcessResult missing;
    missing.program_missing = true;
    spec.command = command_line(*external, place.python, place.site_packages, missing.start_error);
    if (spec.command.empty()) return missing;
    spec.environment["LD_LIBRARY_PATH"] = library_path(place);
    spec.folder = external->folder;
    spec.timeout_seconds = external->timeout_seconds.value_or(limits.timeout_seconds);
  } else if (is_native(workload->name) && place.profiled.empty()) {
    spec.command = {place.native.string()};
    spec.environment["LD_LIBRARY_PATH"] = library_path(place);
  } else {
    spec.command = {place.python.string(), (place.workloads / place.program).string()};
    if (!place.profiled.empty())
      spec.environment["NIGHTJAR_PROFILED"] = fs::absolute(place.profiled).string();
  }
  spec.input = request_json(workload, limits, probes.of(workload), slow);
  spec.memory_bytes = limits.memory_bytes;
  spec.output_bytes = limits.output_bytes;
  spec.cpus = cpus_for(limits.threads);
  return run_process(spec, std::move(stop));
}

ExpectedTorch expected_of(const Workload& workload, const Externals& externals,
                          const ExpectedTorch& expected) {
  const auto* external = find_external(externals, workload.name);
  return external && !external->torch ? ExpectedTorch{} : expected;
}

ProcessExecutor::ProcessExecutor(ProcessExecutorConfig config)
    : config_(std::move(config)),
      environments_(config_.environments),
      natives_(config_.environments.cache, config_.workloads) {}

std::vector<std::string> ProcessExecutor::workloads() const {
  std::vector<std::string> names;
  for (const auto& entry : config_.offered)
    names.push_back(entry.name.str() + "@" + std::to_string(entry.version));
  return names;
}

std::unique_ptr<MachineLock> ProcessExecutor::lock_machine(const std::string& purpose,
                                                           std::stop_token stop) {
  const auto waiting = [](const std::string& holder) {
    spdlog::info("waiting for the machine held_by=\"{}\"", holder);
  };
  return std::make_unique<MachineLock>(config_.machine_lock, purpose, std::move(stop), waiting);
}

void ProcessExecutor::begin_session(const JobSpec& spec) {
  ready_.clear();
  environments_.begin_session(spec.environments);
}

Prepared ProcessExecutor::prepare(const EnvironmentSpec& spec, bool native, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  const Environment environment = environments_.make(spec, stop);
  Ready ready{environment.site_packages, {}};
  if (native && environment.broken.empty())
    ready.native = natives_.make(libtorch_of_build(ready.site_packages), stop);
  if (!gpu_libraries_) gpu_libraries_ = gpu_libraries(config_.environments.python, stop);
  ready_[spec.key()] = ready;
  return {environment.broken,
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
}

ParsedRun ProcessExecutor::profile(const RunTask& task, RunPlace place,
                                   const ExpectedTorch& expected, std::stop_token stop) {
  if (find_external(config_.externals, task.workload->name))
    return refused(RunStatus::unavailable, kNoProfilerInside);
  place.program = kProfileProgram;
  const ProcessResult process = run_workload(place, {}, task.workload, *task.limits, probes_, stop);
  if (stop.stop_requested()) throw Stopped();
  Profile made;
  made.workload = task.workload->name.str();
  made.version = task.workload->version;
  made.torch_version = task.environment->version;
  made.torch_commit = task.environment->git_version;
  made.threads = task.limits->threads;
  ParsedRun run;
  add_run(made, process, expected, run.fastest_probe);
  run.result.seconds = process.seconds;
  if (made.status != "profiled")
    return refused(made.status == "unavailable" ? RunStatus::unavailable : RunStatus::failed,
                   made.reason);
  run.result.profile = std::move(made);
  return run;
}

ParsedRun ProcessExecutor::run(const RunTask& task, std::stop_token stop) {
  RunPlace place{config_.environments.cache, config_.environments.python, config_.workloads, {}, {},
                 config_.torchbench,         &config_.externals};
  ExpectedTorch expected;
  if (task.workload) {
    const Ready& ready = ready_.at(task.environment->key());
    if (is_native(task.workload->name) && ready.native.path.empty())
      return refused(
          ready.native.tool_missing ? RunStatus::unavailable : RunStatus::broken_environment,
          ready.native.reason);
    place.site_packages = ready.site_packages;
    place.native = ready.native.path;
    if (task.profile) place.profiled = ready.native.library;
    place.libtorch = libtorch_of_build(ready.site_packages).libraries;
    place.gpu_libraries = gpu_libraries_.value_or(std::vector<std::filesystem::path>{});
    expected = {ready.site_packages, task.environment->version, task.environment->git_version};
    // The native program has no torch/version.py; where its libraries come from is checked.
    if (is_native(task.workload->name)) expected.version = expected.git_version = "";
    expected = expected_of(*task.workload, config_.externals, expected);
  }
  if (task.profile && task.workload) return profile(task, std::move(place), expected, stop);
  std::optional<GpuWatch> watch;  // what it sees is in the session's state afterwards
  if (task.workload && task.workload->name.device() == "cuda") watch.emplace(probe_.gpus());
  const ProcessResult process =
      run_workload(place, config_.control, task.workload, *task.limits, probes_, stop, task.slow);
  if (stop.stop_requested()) throw Stopped();
  ParsedRun run = parse_run(process, expected);
  probes_.note(task.workload, run.fastest_probe);
  return run;
}

}  // namespace nightjar::runner
