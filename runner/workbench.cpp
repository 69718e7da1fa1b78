#include "runner/workbench.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "runner/failure.hpp"
#include "runner/python.hpp"
#include "runner/run_summary.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {

constexpr int kRepeats = 2;  // of a run that the GPU's clocks made void

ReadyTorch imported(const fs::path& python, std::stop_token stop) {
  const ImportCheck check = check_import(python, {}, {}, stop);
  if (stop.stop_requested()) throw Stopped();
  if (!check.broken.empty())
    throw std::runtime_error(check.broken + " (with " + python.string() + "; --python names another one)");
  return check.torch;
}

}  // namespace

Workbench::Workbench(const MeasureConfig& config, bool native, std::stop_token stop,
                     const std::function<void(const std::string&)>& progress)
    : config_(config), stop_(std::move(stop)) {
  fs::path site_packages;
  if (config.libtorch.empty()) {
    progress("importing torch with " + config.python.string());
    torch_ = imported(config.python, stop_);
    site_packages = fs::path(torch_.path).parent_path().parent_path();
  }
  const LibTorch libtorch =
      config.libtorch.empty() ? libtorch_of_build(site_packages) : libtorch_at(config.libtorch);
  if (native) {
    progress("making the native workloads ready");
    native_ = NativeCache(config.cache, config.workloads / "native").make(libtorch, stop_);
  }
  place_ = {config.cache, config.python, config.workloads, site_packages, native_.path, config.torchbench,
            &config.externals};
  place_.libtorch = libtorch.libraries;
  expected_.below = libtorch.root;
}

void Workbench::run_once(MeasuredWorkload& measured, const RunLimits& limits) {
  const Workload workload{{}, measured.workload.name, measured.workload.version};
  if (is_native(workload.name) && native_.path.empty()) {
    measured.status = RunStatus::unavailable;
    measured.reason = native_.reason;
    return;
  }
  ParsedRun run = run_unthrottled(workload, limits);
  if (torch_.version.empty()) torch_ = run.torch;
  measured.settings.insert(run.settings.begin(), run.settings.end());
  probes_.note(&workload, run.fastest_probe);
  if (!run.accuracy.empty()) measured.accuracy = run.accuracy;
  if (run.result.status == RunStatus::measured) {
    measured.runs.push_back(std::move(run.result));
    return;
  }
  measured.status = run.result.status;
  measured.reason = run.result.reason;
}

ParsedRun Workbench::run_unthrottled(const Workload& workload, const RunLimits& limits) {
  std::string throttled;
  ParsedRun run;
  for (int attempt = 0; attempt <= kRepeats; ++attempt) {
    std::optional<GpuWatch> watch;
    if (workload.name.device() == "cuda") watch.emplace(machine_.gpus());
    const ProcessResult process = run_workload(place_, {}, &workload, limits, probes_, stop_);
    if (stop_.stop_requested()) throw Stopped();
    run = parse_run(process, expected_of(workload, config_.externals, expected_));
    throttled = watch && run.result.status == RunStatus::measured ? watch->end() : "";
    if (throttled.empty()) return run;
  }
  run.result.status = RunStatus::failed;
  run.result.reason = "the GPU's clocks were held down in each of " + std::to_string(kRepeats + 1) +
                      " runs (" + throttled + "); see nightjar-runner doctor";
  return run;
}

BatchPoint Workbench::try_batch(const CatalogEntry& entry, int batch) {
  constexpr double kShare = 0.8;
  const auto memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  RunLimits limits = config_.limits;
  if (limits.memory_bytes == 0) limits.memory_bytes = static_cast<std::int64_t>(kShare * memory);
  limits.seconds = std::min(limits.seconds, 0.3);
  MeasuredWorkload measured{at_batch(entry, "b" + std::to_string(batch))};
  run_once(measured, limits);
  return {batch, measured.status, summarize(measured.runs, "latency").location, measured.reason};
}

}  // namespace nightjar::runner
