#include "runner/run/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <set>
#include <unistd.h>

#include "runner/catalog/variants.hpp"
#include "runner/machine/fingerprint.hpp"
#include "runner/process/failure.hpp"
#include "runner/run/batch_sweep.hpp"
#include "runner/run/session.hpp"
#include "storage/model/run_value.hpp"

namespace nightjar::runner {
namespace {

constexpr int kThrottledRepeats = 2;
constexpr int kTrials = 3;  // of a batch size

bool any_native(const std::vector<ChosenWorkload>& workloads) {
  return std::any_of(workloads.begin(), workloads.end(), [](const auto& chosen) {
    return chosen.listed && is_native(chosen.workload.name);
  });
}

MeasuredWorkload begin_with(const ChosenWorkload& chosen) {
  MeasuredWorkload measured{chosen.workload};
  if (chosen.listed) return measured;
  measured.status = RunStatus::unavailable;
  measured.reason = "there is no such workload here";
  return measured;
}

void leave_out(MeasuredWorkload& measured, const char* why) {
  measured.status = RunStatus::unavailable;
  measured.reason = why;
}

// False once `config.minutes` since `begin` are over; a workload without any run then says so.
bool time_is_left(const MeasureConfig& config, std::chrono::steady_clock::time_point begin,
                  MeasuredWorkload& measured) {
  if (!config.minutes) return true;
  const std::chrono::duration<double, std::ratio<60>> spent =
      std::chrono::steady_clock::now() - begin;
  if (spent.count() < *config.minutes) return true;
  if (!measured.runs.empty()) return false;
  char text[64];
  std::snprintf(text, sizeof text, "left out, %g minutes were used up", *config.minutes);
  leave_out(measured, text);
  return false;
}

// One run at a batch size, or a few if it is disturbed throughout; kept from taking all of the
// machine's memory.
BatchPoint try_batch(const MeasureConfig& config, const CatalogEntry& entry, int batch,
                     Executor& executor, std::stop_token stop) {
  constexpr double kShare = 0.8;
  const auto memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  RunLimits limits = config.limits;
  if (limits.memory_bytes == 0) limits.memory_bytes = static_cast<std::int64_t>(kShare * memory);
  limits.seconds = std::min(limits.seconds, 0.3);
  const JobSpec job =
      local_job(JobKind::screen, {at_batch(entry, "b" + std::to_string(batch))}, {0}, limits);
  BatchPoint point{batch, RunStatus::measured, {}, {}};
  for (int trial = 0; trial < kTrials && (trial == 0 || point.disturbed()); ++trial) {
    const auto session = run_session({}, job, executor, SystemClock(), stop);
    const RunResult& run = session.runs.front();
    point = {batch, run.status, value_of(run, "latency"), run.reason};
  }
  return point;
}

// What a name's `bmax` is on this machine: pinned earlier, or found now and pinned.
void settle_batch(const MeasureConfig& config, const std::string& machine,
                  MeasuredWorkload& measured,
                  const std::function<BatchPoint(const CatalogEntry&, int)>& try_one) {
  const PinnedBatches pinned(config.paths.cache / "batches.json");
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

// Adds a run to its workload, or what went wrong with it.
void take_run(const ParsedRun& run, Measurement& out, MeasuredWorkload& measured) {
  if (out.torch.version.empty()) out.torch = run.torch;
  measured.settings.insert(run.settings.begin(), run.settings.end());
  if (!run.accuracy.empty()) measured.accuracy = run.accuracy;
  if (run.result.status == RunStatus::measured) return measured.runs.push_back(run.result);
  measured.status = run.result.status;
  measured.reason = run.result.reason;
  measured.details = run.details;
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
                    std::stop_token stop, const std::function<void(const std::string&)>& progress) {
  const auto begin = std::chrono::steady_clock::now();
  ReadyBuild build = local_build(config.paths, any_native(workloads), stop, progress);
  build.place.externals = config.externals;
  ProcessExecutor executor = local_executor(build, kThrottledRepeats);
  Measurement out{build.torch, machine_facts(), {}};
  const std::string machine = machine_class(out.machine).fingerprint.str();
  std::vector<int> priorities;
  std::vector<CatalogEntry> entries;
  for (const auto& chosen : workloads) {
    MeasuredWorkload& measured = out.workloads.emplace_back(begin_with(chosen));
    if (chosen.listed && chosen.workload.name.batch() == "bmax")
      settle_batch(config, machine, measured, [&](const CatalogEntry& entry, int batch) {
        progress("trying batch size " + std::to_string(batch) + ": " + entry.name.str());
        return try_batch(config, entry, batch, executor, stop);
      });
    priorities.push_back(chosen.priority);
    entries.push_back(measured.workload);
  }
  const auto measured_of = [&](const PlannedRun& run) -> MeasuredWorkload& {
    return out.workloads[static_cast<std::size_t>(run.workload)];
  };
  SessionHooks hooks;
  hooks.keep_when_stopped = true;
  hooks.wanted = [&](const PlannedRun& run) {
    MeasuredWorkload& measured = measured_of(run);
    if (measured.status != RunStatus::measured || !time_is_left(config, begin, measured))
      return false;
    progress("run " + std::to_string(measured.runs.size() + 1) + " of " +
             std::to_string(config.runs) + ": " + measured.workload.name.str());
    return true;
  };
  hooks.done = [&](const PlannedRun& planned, const ParsedRun& run) {
    MeasuredWorkload& measured = measured_of(planned);
    take_run(run, out, measured);
    if (!measured.details.empty()) progress(measured.details);
  };
  const JobSpec job =
      local_job(JobKind::screen, entries, measuring_order(priorities, config.runs), config.limits);
  const SessionResult session = run_session({}, job, executor, SystemClock(), stop, hooks);
  if (stop.stop_requested())
    for (MeasuredWorkload& measured : out.workloads)
      if (measured.status == RunStatus::measured && measured.runs.empty())
        leave_out(measured, kLeftOutStopped);
  out.before = session.before;
  out.after = session.after;
  return out;
}

}  // namespace nightjar::runner
