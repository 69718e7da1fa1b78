#include "runner/run/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <set>

#include "runner/catalog/variants.hpp"
#include "runner/machine/fingerprint.hpp"
#include "runner/process/failure.hpp"
#include "runner/run/batch_sweep.hpp"
#include "runner/run/workbench.hpp"

namespace nightjar::runner {
namespace {

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
  Workbench bench(config, any_native(workloads), stop, progress);
  Measurement out{{}, machine_facts(), {}};
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
  out.before = bench.machine();
  for (const std::size_t next : measuring_order(priorities, config.runs)) {
    MeasuredWorkload& measured = out.workloads[next];
    if (measured.status != RunStatus::measured || !time_is_left(config, begin, measured)) continue;
    progress("run " + std::to_string(measured.runs.size() + 1) + " of " +
             std::to_string(config.runs) + ": " + measured.workload.name.str());
    try {
      bench.run_once(measured, config.limits);
      if (!measured.details.empty()) progress(measured.details);
    } catch (const Stopped&) {
      break;
    }
  }
  if (stop.stop_requested())
    for (MeasuredWorkload& measured : out.workloads)
      if (measured.status == RunStatus::measured && measured.runs.empty())
        leave_out(measured, kLeftOutStopped);
  out.torch = bench.torch();
  out.after = bench.machine();
  return out;
}

}  // namespace nightjar::runner
