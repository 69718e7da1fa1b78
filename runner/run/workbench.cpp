#include "runner/run/workbench.hpp"

#include <algorithm>
#include <optional>
#include <unistd.h>

#include "runner/format/run_summary.hpp"
#include "runner/process/failure.hpp"

namespace nightjar::runner {
namespace {

constexpr int kRepeats = 2;  // of a run that the GPU's clocks made void

}  // namespace

Workbench::Workbench(const MeasureConfig& config, bool native, std::stop_token stop,
                     const std::function<void(const std::string&)>& progress)
    : config_(config),
      stop_(std::move(stop)),
      build_(local_build(config.paths, native, stop_, progress)) {
  build_.place.externals = &config.externals;
  expected_.below = build_.root;
}

void Workbench::run_once(MeasuredWorkload& measured, const RunLimits& limits) {
  const Workload workload{{}, measured.workload.name, measured.workload.version};
  if (is_native(workload.name) && build_.native.path.empty()) {
    measured.status = RunStatus::unavailable;
    measured.reason = build_.native.reason;
    return;
  }
  ParsedRun run = run_unthrottled(workload, limits);
  if (build_.torch.version.empty()) build_.torch = run.torch;
  measured.settings.insert(run.settings.begin(), run.settings.end());
  probes_.note(&workload, run.fastest_probe);
  if (!run.accuracy.empty()) measured.accuracy = run.accuracy;
  if (run.result.status == RunStatus::measured) {
    measured.runs.push_back(std::move(run.result));
    return;
  }
  measured.status = run.result.status;
  measured.reason = run.result.reason;
  measured.details = run.details;
}

ParsedRun Workbench::run_unthrottled(const Workload& workload, const RunLimits& limits) {
  std::string throttled;
  ParsedRun run;
  for (int attempt = 0; attempt <= kRepeats; ++attempt) {
    std::optional<GpuWatch> watch;
    if (workload.name.device() == "cuda") watch.emplace(machine_.gpus());
    const ProcessResult process = run_workload(build_.place, {}, &workload, limits, probes_, stop_);
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
  const auto memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  RunLimits limits = config_.limits;
  if (limits.memory_bytes == 0) limits.memory_bytes = static_cast<std::int64_t>(kShare * memory);
  limits.seconds = std::min(limits.seconds, 0.3);
  MeasuredWorkload measured{at_batch(entry, "b" + std::to_string(batch))};
  run_once(measured, limits);
  return {batch, measured.status, summarize(measured.runs, "latency").location, measured.reason};
}

}  // namespace nightjar::runner
