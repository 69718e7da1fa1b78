#include "runner/measure.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>
#include <stdexcept>

#include "bisect/statistics.hpp"
#include "runner/batch_sweep.hpp"
#include "runner/failure.hpp"
#include "runner/fingerprint.hpp"
#include "runner/machine_state.hpp"
#include "runner/native_cache.hpp"
#include "runner/process_executor.hpp"
#include "runner/python.hpp"
#include "runner/variants.hpp"
#include "storage/model/run_value.hpp"

namespace nightjar::runner {
namespace {

bool any_native(const std::vector<ChosenWorkload>& workloads) {
  return std::any_of(workloads.begin(), workloads.end(),
                     [](const auto& chosen) { return chosen.listed && is_native(chosen.workload.name); });
}

MeasuredWorkload begin_with(const ChosenWorkload& chosen) {
  MeasuredWorkload measured{chosen.workload};
  if (chosen.listed) return measured;
  measured.status = RunStatus::unavailable;
  measured.reason = "there is no such workload here";
  return measured;
}

// False once `config.minutes` since `begin` are over; a workload without any run then says so.
bool time_is_left(const MeasureConfig& config, std::chrono::steady_clock::time_point begin,
                  MeasuredWorkload& measured) {
  if (!config.minutes) return true;
  const std::chrono::duration<double, std::ratio<60>> spent = std::chrono::steady_clock::now() - begin;
  if (spent.count() < *config.minutes) return true;
  if (!measured.runs.empty()) return false;
  char text[64];
  std::snprintf(text, sizeof text, "left out, %g minutes were used up", *config.minutes);
  measured.status = RunStatus::unavailable;
  measured.reason = text;
  return false;
}

constexpr int kRepeats = 2;  // of a run that the GPU's clocks made void

// Where runs are made, and what is learnt from run to run.
struct Bench {
  const MeasureConfig& config;
  RunPlace place;
  NativeProgram native;
  ExpectedTorch expected;
  std::stop_token stop;
  FastestProbes probes = {};
  MachineProbe machine = {};

  void run_once(MeasuredWorkload& measured, const RunLimits& limits);
  BatchPoint try_batch(const CatalogEntry& entry, int batch);

 private:
  ParsedRun run_unthrottled(const Workload& workload, const RunLimits& limits);
};

void Bench::run_once(MeasuredWorkload& measured, const RunLimits& limits) {
  const Workload workload{{}, measured.workload.name, measured.workload.version};
  if (is_native(workload.name) && native.path.empty()) {
    measured.status = RunStatus::unavailable;
    measured.reason = native.reason;
    return;
  }
  ParsedRun run = run_unthrottled(workload, limits);
  measured.settings.insert(run.settings.begin(), run.settings.end());
  probes.note(&workload, run.fastest_probe);
  if (!run.accuracy.empty()) measured.accuracy = run.accuracy;
  if (run.result.status == RunStatus::measured) {
    measured.runs.push_back(std::move(run.result));
    return;
  }
  measured.status = run.result.status;
  measured.reason = run.result.reason;
}

ParsedRun Bench::run_unthrottled(const Workload& workload, const RunLimits& limits) {
  std::string throttled;
  ParsedRun run;
  for (int attempt = 0; attempt <= kRepeats; ++attempt) {
    std::optional<GpuWatch> watch;
    if (workload.name.device() == "cuda") watch.emplace(machine.gpus());
    const ProcessResult process = run_workload(place, {}, &workload, limits, probes, stop);
    if (stop.stop_requested()) throw Stopped();
    run = parse_run(process, expected_of(workload, config.externals, expected));
    throttled = watch && run.result.status == RunStatus::measured ? watch->end() : "";
    if (throttled.empty()) return run;
  }
  run.result.status = RunStatus::failed;
  run.result.reason = "the GPU's clocks were held down in each of " + std::to_string(kRepeats + 1) +
                      " runs (" + throttled + "); see nightjar-runner doctor";
  return run;
}

// One run at a batch size, kept from taking all of the machine's memory.
BatchPoint Bench::try_batch(const CatalogEntry& entry, int batch) {
  constexpr double kShare = 0.8;
  const auto memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  RunLimits limits = config.limits;
  if (limits.memory_bytes == 0) limits.memory_bytes = static_cast<std::int64_t>(kShare * memory);
  limits.seconds = std::min(limits.seconds, 0.3);
  MeasuredWorkload measured{at_batch(entry, "b" + std::to_string(batch))};
  run_once(measured, limits);
  return {batch, measured.status, summarize(measured.runs, "latency").location, measured.reason};
}

// What a name's `bmax` is on this machine: pinned earlier, or found now and pinned.
void settle_batch(const MeasureConfig& config, const std::string& machine, MeasuredWorkload& measured,
                  const std::function<BatchPoint(const CatalogEntry&, int)>& try_one) {
  const PinnedBatches pinned(config.cache / "batches.json");
  std::optional<int> batch = pinned.find(machine, measured.workload);
  if (!batch) {
    const SweepResult found = sweep_batches(measured.workload, try_one);
    batch = found.batch;
    if (batch) pinned.pin(machine, measured.workload, *batch);
    measured.reason = found.reason;
  }
  if (batch)
    measured.workload = at_batch(measured.workload, "b" + std::to_string(*batch));
  else
    measured.status = RunStatus::unavailable;
}

}  // namespace

std::vector<std::size_t> measuring_order(const std::vector<int>& priorities, int runs) {
  const std::set<int, std::greater<>> classes(priorities.begin(), priorities.end());
  std::vector<std::size_t> order;
  for (const int priority : classes)
    for (int run = 0; run < runs; ++run)
      for (std::size_t i = 0; i < priorities.size(); ++i)
        if (priorities[i] == priority) order.push_back(i);
  return order;
}

Measurement measure(const MeasureConfig& config, const std::vector<ChosenWorkload>& workloads,
                    std::stop_token stop,
                    const std::function<void(const std::string&)>& progress) {
  const auto begin = std::chrono::steady_clock::now();
  progress("importing torch with " + config.python.string());
  const ImportCheck check = check_import(config.python, {}, {}, stop);
  if (stop.stop_requested()) throw Stopped();
  if (!check.broken.empty())
    throw std::runtime_error(check.broken + " (with " + config.python.string() +
                             "; --python names another one)");
  Measurement out{check.torch, machine_facts(), {}};
  const auto site_packages = std::filesystem::path(check.torch.path).parent_path().parent_path();
  NativeProgram native;
  if (any_native(workloads)) {
    progress("making the native workloads ready");
    native = NativeCache(config.cache, config.workloads / "native").make(site_packages, stop);
  }
  Bench bench{config,
              {config.cache, config.python, config.workloads, site_packages, native.path, config.torchbench,
               &config.externals},
              native,
              {site_packages, "", ""},
              stop};
  const std::string machine = machine_class(out.machine).fingerprint.str();
  std::vector<int> priorities;
  for (const auto& chosen : workloads) {
    MeasuredWorkload& measured = out.workloads.emplace_back(begin_with(chosen));
    priorities.push_back(chosen.priority);
    if (chosen.listed && chosen.workload.name.batch() == "bmax")
      settle_batch(config, machine, measured, [&](const CatalogEntry& entry, int batch) {
        progress("trying batch size " + std::to_string(batch) + ": " + entry.name.str());
        return bench.try_batch(entry, batch);
      });
  }
  out.before = bench.machine.read();
  for (const std::size_t next : measuring_order(priorities, config.runs)) {
    MeasuredWorkload& measured = out.workloads[next];
    if (measured.status != RunStatus::measured || !time_is_left(config, begin, measured)) continue;
    progress("run " + std::to_string(measured.runs.size() + 1) + " of " + std::to_string(config.runs) + ": " +
             measured.workload.name.str());
    bench.run_once(measured, config.limits);
  }
  out.after = bench.machine.read();
  return out;
}

namespace {

// As people publish it: the middle of the iterations, of latency the undisturbed ones while there are any.
std::optional<double> location_of(const RunResult& run, const std::string& metric) {
  const auto found = run.samples.find(metric);
  if (found == run.samples.end() || found->second.empty()) return std::nullopt;
  const auto undisturbed = metric == "latency" ? undisturbed_latency(run) : std::vector<double>{};
  return bisect::hodges_lehmann(undisturbed.empty() ? found->second : undisturbed);
}

}  // namespace

Summary summarize(const std::vector<RunResult>& runs, const std::string& metric) {
  std::vector<double> values;
  for (const auto& run : runs)
    if (const auto value = location_of(run, metric)) values.push_back(*value);
  if (values.empty()) return {};
  Summary summary;
  summary.location = bisect::hodges_lehmann(values);
  const auto interval = bisect::hodges_lehmann_interval(values, 0.95);
  summary.low = interval.low;
  summary.high = interval.high;
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  if (values.size() > 1 && mean != 0)
    summary.cv = std::sqrt(squares / static_cast<double>(values.size() - 1)) / std::abs(mean);
  return summary;
}

}  // namespace nightjar::runner
