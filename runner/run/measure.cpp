#include "runner/run/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <set>

#include "runner/catalog/variants.hpp"
#include "runner/machine/fingerprint.hpp"
#include "runner/process/failure.hpp"
#include "runner/run/batch_trial.hpp"
#include "runner/run/session.hpp"
#include "storage/base/machine_class.hpp"

namespace nightjar::runner {
namespace {

constexpr int throttled_repeats = 2;

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

void leave_out(MeasuredWorkload& measured, std::string why) {
  measured.status = RunStatus::unavailable;
  measured.reason = std::move(why);
}

std::string minutes_used_up(double minutes) {
  char text[64];
  std::snprintf(text, sizeof text, "left out, %g minutes were used up", minutes);
  return text;
}

class LocalMeasurement {
 public:
  LocalMeasurement(const MeasureConfig& config, std::stop_token stop,
                   const std::function<void(const std::string&)>& progress,
                   std::chrono::steady_clock::time_point begin, const ReadyBuild& build)
      : begin_(begin),
        config_(config),
        stop_(std::move(stop)),
        progress_(progress),
        executor_(local_executor(build, throttled_repeats)),
        out_{build.torch, machine_facts(), {}},
        machine_(machine_class(out_.machine).fingerprint.str()) {}

  Measurement run(const std::vector<ChosenWorkload>& workloads) {
    std::vector<int> priorities;
    std::vector<CatalogEntry> entries;
    for (const auto& chosen : workloads) {
      MeasuredWorkload& measured = out_.workloads.emplace_back(begin_with(chosen));
      if (chosen.listed && chosen.workload.name.batch() == best_batch_name) choose_batch(measured);
      priorities.push_back(chosen.priority);
      entries.push_back(measured.workload);
    }
    SessionHooks hooks;
    hooks.keep_when_stopped = true;
    hooks.wanted = [this](const PlannedRun& run) { return begin_run(workload_of(run)); };
    hooks.done = [this](const PlannedRun& planned, const ParsedRun& run) {
      take(run, workload_of(planned));
    };
    const JobSpec job = local_job(JobKind::screen, entries,
                                  measuring_order(priorities, config_.runs), config_.limits);
    const auto session = run_session({}, job, executor_, SystemClock(), stop_, hooks);
    out_.before = session.before;
    out_.after = session.after;
    if (stop_.stop_requested())
      for (MeasuredWorkload& measured : out_.workloads)
        if (measured.status == RunStatus::measured && measured.runs.empty())
          leave_out(measured, left_out_stopped);
    return std::move(out_);
  }

 private:
  MeasuredWorkload& workload_of(const PlannedRun& run) {
    return out_.workloads[static_cast<std::size_t>(run.workload)];
  }

  // Replaces the name's `bmax` by the size pinned for this machine earlier, or found and pinned
  // now.
  void choose_batch(MeasuredWorkload& measured) {
    const PinnedBatches pinned(config_.paths.cache);
    std::optional<int> batch = pinned.find(machine_, measured.workload);
    RunStatus status = RunStatus::unavailable;
    if (!batch) {
      const RunOnce run_once = [this](const CatalogEntry& entry, const RunLimits& limits) {
        const JobSpec job = local_job(JobKind::screen, {entry}, {0}, limits);
        return run_session({}, job, executor_, SystemClock(), stop_).runs.front();
      };
      const SweepResult found =
          sweep_batches(measured.workload, [&](const CatalogEntry& entry, int size) {
            progress_("trying batch size " + std::to_string(size) + ": " + entry.name.str());
            return try_batch(entry, size, config_.limits, run_once);
          });
      batch = found.batch;
      status = found.status;
      if (batch) pinned.pin(machine_, measured.workload, *batch);
      measured.reason = found.reason;
    }
    if (batch)
      measured.workload = at_batch(measured.workload, "b" + std::to_string(*batch));
    else
      measured.status = status;
  }

  bool time_is_left() const {
    const std::chrono::duration<double, std::ratio<60>> spent =
        std::chrono::steady_clock::now() - begin_;
    return !config_.minutes || spent.count() < *config_.minutes;
  }

  // Announces the next run of this workload. False if it has none: it failed, or the time is over.
  bool begin_run(MeasuredWorkload& measured) {
    if (measured.status != RunStatus::measured) return false;
    if (!time_is_left()) {
      if (measured.runs.empty()) leave_out(measured, minutes_used_up(*config_.minutes));
      return false;
    }
    progress_("run " + std::to_string(measured.runs.size() + 1) + " of " +
              std::to_string(config_.runs) + ": " + measured.workload.name.str());
    return true;
  }

  // Adds a run to its workload, or what went wrong with it.
  void take(const ParsedRun& run, MeasuredWorkload& measured) {
    if (out_.torch.version.empty()) out_.torch = run.torch;
    measured.settings.insert(run.settings.begin(), run.settings.end());
    if (run.result.accuracy) measured.accuracy = run.result.accuracy;
    if (run.result.status == RunStatus::measured) return measured.runs.push_back(run.result);
    measured.status = run.result.status;
    measured.reason = run.result.reason;
    measured.details = run.details;
    if (!measured.details.empty()) progress_(measured.details);
  }

  const std::chrono::steady_clock::time_point begin_;
  const MeasureConfig& config_;
  const std::stop_token stop_;
  const std::function<void(const std::string&)>& progress_;
  ProcessExecutor executor_;
  Measurement out_;
  const std::string machine_;  // class
};

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
  return LocalMeasurement(config, stop, progress, begin, build).run(workloads);
}

}  // namespace nightjar::runner
