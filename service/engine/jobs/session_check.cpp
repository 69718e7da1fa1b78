#include "service/engine/jobs/session_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>

#include "bisect/control.hpp"
#include "bisect/statistics.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/model/run_value.hpp"
#include "storage/own_sessions.hpp"
#include "storage/runners.hpp"
#include "storage/series.hpp"
#include "storage/sessions.hpp"

namespace nightjar::service {
namespace {

constexpr int remembered_nights = 14;            // what a series' level comes from
constexpr std::size_t remembered_sessions = 30;  // of each machine class
constexpr std::size_t enough_history = 8;        // before that there is no sd to hold a session to
// Share of all CPU time. Single disturbed iterations are known by their probes and left out by the
// runner; beyond this hardly any is undisturbed.
constexpr double most_steal = .15;
constexpr int most_repeats = 2;
constexpr std::size_t another_level = 3;   // void sessions in a row ...
constexpr double largest_agreement = .05;  // ... whose controls differ by no more than this, or
                                           // than half of what is never off

constexpr double slowed_by_cap = .02;  // a share: kernels repeat within .25 % at equal clocks
constexpr int most_void_nights = 2;    // in a row, of a GPU whose clocks are free

std::string signed_percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * share);
  return text;
}

// What of the control workload is held to a machine class's history. Below `least_deviation`, a
// share, it is never off: on shared machines it repeats no better.
struct HeldGauge {
  const char* name;
  double least_deviation;
  double (*location)(const SessionCheck& check);  // s; 0: not measured
};

constexpr HeldGauge gauges[] = {
    {"the control workload, which depends on the machine only,", .10,
     [](const SessionCheck& check) { return check.control; }},
    {"the GPU's arithmetic, by a kernel that no build changes,", .05,
     [](const SessionCheck& check) { return check.gpu ? check.gpu->compute : 0; }},
    {"the GPU's memory, by a kernel that no build changes,", .05,
     [](const SessionCheck& check) { return check.gpu ? check.gpu->bandwidth : 0; }},
    {"launching a kernel that does nothing", .30,
     [](const SessionCheck& check) { return check.gpu ? check.gpu->launch : 0; }}};

// The locations of the session's control runs, in seconds.
std::vector<double> control_runs(const JobSpec& spec, const SessionResult& result,
                                 std::string_view metric) {
  std::vector<double> locations;
  for (const RunResult& run : result.runs) {
    const auto index = static_cast<std::size_t>(run.order);
    if (index >= spec.order.size() || !spec.order[index].is_control()) continue;
    if (const auto value = value_of(run, metric)) locations.push_back(*value);
  }
  return locations;
}

// Their median; 0: none has the metric.
double control_location(const JobSpec& spec, const SessionResult& result, std::string_view metric) {
  const std::vector<double> locations = control_runs(spec, result, metric);
  return locations.empty() ? 0 : bisect::median(locations);
}

// What a control run calls it: a GPU's kernels go by the gauge's name.
std::string_view metric_of(Gauge gauge) {
  return gauge == Gauge::cpu ? "latency" : name_of(gauge);
}

// How far the machine moved during a screening. The launches of a GPU have no reading: the CPU's
// control moves with them, and most workloads do not.
std::vector<ControlReading> control_readings(const Unchecked& unchecked,
                                             const SessionCheck& check) {
  std::vector<ControlReading> readings;
  for (const Gauge gauge : all_of<Gauge>()) {
    if (gauge == Gauge::cpu ? check.control <= 0 : !check.gpu) continue;
    const auto runs = control_runs(unchecked.job.spec, unchecked.result, metric_of(gauge));
    if (const auto reading = bisect::read_control(gauge, runs, unchecked.nights))
      readings.push_back(*reading);
  }
  return readings;
}

std::optional<GpuControl> gpu_location(const JobSpec& spec, const SessionResult& result) {
  const GpuControl gpu{control_location(spec, result, metric_of(Gauge::gpu_compute)),
                       control_location(spec, result, metric_of(Gauge::gpu_bandwidth)),
                       control_location(spec, result, "gpu_launch")};
  if (gpu.compute > 0 && gpu.bandwidth > 0 && gpu.launch > 0) return gpu;
  return std::nullopt;
}

// Why a gauge is off; empty: it is not, or there is too little to hold it to.
std::string off_by(const HeldGauge& gauge, const SessionCheck& check,
                   const std::vector<SessionCheck>& history) {
  const double now = gauge.location(check);
  std::vector<double> usual;
  for (const SessionCheck& earlier : history)
    if (const double location = gauge.location(earlier); location > 0) usual.push_back(location);
  if (now <= 0 || usual.size() < enough_history) return {};
  if (usual.size() > remembered_sessions)
    usual.erase(usual.begin(), usual.end() - remembered_sessions);
  const double level = bisect::median(usual), deviation = now / level - 1;
  const double limit = std::max(3 * bisect::robust_sd(usual) / level, gauge.least_deviation);
  if (std::abs(deviation) <= limit) return {};
  return std::string(gauge.name) + " was off by " + signed_percent(deviation) + " (limit " +
         signed_percent(limit) + ")";
}

// What time says best how fast the GPU was: that of kernels, else by its clock, else by the wall's.
std::optional<double> device_time(const RunResult& run) {
  for (const char* metric : {"kernel_time", "cuda_latency", "latency"})
    if (const auto value = value_of(run, metric)) return value;
  return std::nullopt;
}

const char* device_metric(const RunResult& run) {
  for (const char* metric : {"kernel_time", "cuda_latency"})
    if (run.samples.contains(metric)) return metric;
  return "latency";
}

std::vector<ClockEvent> used_events(const SessionResult& result) {
  std::vector<ClockEvent> events;
  for (const GpuState& gpu : result.after.gpus)
    if (gpu.used) events.insert(events.end(), gpu.clock_events.begin(), gpu.clock_events.end());
  return events;
}

bool holds(const std::vector<ClockEvent>& events, ClockEvent event) {
  return std::find(events.begin(), events.end(), event) != events.end();
}

// A power cap and nothing else that makes a session void.
bool only_power_capped(const SessionResult& result) {
  return throttling(result.after.gpus) == name_of(ClockEvent::sw_power_cap);
}

bool agree(const SessionCheck& a, const SessionCheck& b) {
  return std::all_of(std::begin(gauges), std::end(gauges), [&](const HeldGauge& gauge) {
    const double one = gauge.location(a), other = gauge.location(b);
    const double most = std::max(largest_agreement, gauge.least_deviation / 2);
    return one <= 0 || other <= 0 || std::abs(one / other - 1) <= most;
  });
}

SessionOutcome void_for_good(const Job& job, const std::string& reason) {
  return {SessionOutcome::State::failed, job, "the session was void three times: " + reason,
          most_repeats};
}

}  // namespace

std::vector<SessionCheck> usable_history(const std::vector<SessionCheck>& checks) {
  std::vector<SessionCheck> usable, not_usable;
  for (const SessionCheck& check : checks) {
    if (check.usable) {
      usable.push_back(check);
      not_usable.clear();
      continue;
    }
    if (!not_usable.empty() && !agree(check, not_usable.front())) not_usable.clear();
    not_usable.push_back(check);
    if (not_usable.size() == another_level) usable = std::exchange(not_usable, {});
  }
  return usable;
}

SessionCheck check_session(const JobSpec& spec, const SessionResult& result,
                           const std::vector<SessionCheck>& history, const PowerCap& cap) {
  SessionCheck check;
  check.control = control_location(spec, result, metric_of(Gauge::cpu));
  if (spec.uses_gpu()) check.gpu = gpu_location(spec, result);
  if (result.after.steal_share > most_steal) {
    check.usable = false;
    check.reason = "the machine lost " + signed_percent(result.after.steal_share) +
                   " of its CPU time to others (steal)";
    return check;
  }
  const std::string events = spec.uses_gpu() ? throttling(result.after.gpus) : "";
  if (!events.empty() && !only_power_capped(result)) {
    check.usable = false;
    check.reason = "the GPU's clocks were held down (" + events + ")";
    return check;
  }
  const bool fixed = holds(used_events(result), ClockEvent::applications_clocks_setting);
  if (!events.empty() && cap.slowdown && *cap.slowdown > 1 + slowed_by_cap &&
      (fixed || cap.void_nights < most_void_nights)) {
    check.usable = false;
    check.reason = "the GPU's power cap slowed it by " + signed_percent(*cap.slowdown - 1) +
                   " against other sessions of the same builds";
    return check;
  }
  for (const HeldGauge& gauge : gauges) {
    check.reason = off_by(gauge, check, history);
    check.usable = check.reason.empty();
    if (!check.usable) break;
  }
  return check;
}

SessionOutcome outcome_of(const storage::Database& db, const Job& asked) {
  const std::vector<Job> repeats = storage::repeats_of(db, asked.id);
  Job job = asked;
  for (int repeat = 0;; ++repeat) {
    if (job.state == JobState::queued || job.state == JobState::leased)
      return {SessionOutcome::State::pending, job, "", repeat};
    if (job.state != JobState::done)
      return {SessionOutcome::State::failed, job, "the session failed: " + job.reason, repeat};
    const auto check = storage::find_check(db, job.id);
    if (!check) return {SessionOutcome::State::pending, job, "", repeat};
    if (check->usable) return {SessionOutcome::State::usable, job, "", repeat};
    if (repeat == most_repeats) return void_for_good(job, check->reason);
    if (std::cmp_equal(repeat, repeats.size()))
      return {SessionOutcome::State::pending, job, "", repeat};
    job = repeats[static_cast<std::size_t>(repeat)];
  }
}

SessionOutcomes outcomes_of(const storage::Database& db, const std::vector<Job>& asked) {
  SessionOutcomes all;
  for (const Job& job : asked) {
    SessionOutcome session = outcome_of(db, job);
    if (session.state == SessionOutcome::State::pending) all.pending = true;
    if (session.state == SessionOutcome::State::failed) all.failure = session.reason;
    if (session.state == SessionOutcome::State::usable)
      all.usable.push_back(std::move(session.job));
  }
  return all;
}

namespace {

// The median over the session's builds and workloads.
PowerCap load_cap(const storage::Database& db, const Job& job, const SessionResult& result) {
  std::map<std::pair<SeriesId, BuildId>, std::vector<double>> here;
  for (const RunResult& run : result.runs) {
    const auto index = static_cast<std::size_t>(run.order);
    if (index >= job.spec.order.size() || job.spec.order[index].is_control()) continue;
    const PlannedRun& planned = job.spec.order[index];
    const auto& workload = job.spec.workloads.at(static_cast<std::size_t>(planned.workload));
    const BuildId build =
        job.spec.environments.at(static_cast<std::size_t>(planned.environment)).build;
    const auto row = storage::find_build(db, build);
    const auto series =
        row ? storage::find_series(db, workload.id, device_metric(run), job.machine, row->variant)
            : std::nullopt;
    const auto value = device_time(run);
    if (series && value) here[{series->id, build}].push_back(*value);
  }
  std::vector<double> ratios;
  for (const auto& [what, values] : here) {
    const auto elsewhere = storage::values_elsewhere(db, what.first, what.second, job.id);
    if (!elsewhere.empty()) ratios.push_back(bisect::median(values) / bisect::median(elsewhere));
  }
  PowerCap cap;
  if (!ratios.empty()) cap.slowdown = bisect::median(ratios);
  cap.void_nights = storage::void_nights_before(db, job.machine, job.night, most_void_nights);
  return cap;
}

}  // namespace

std::optional<Unchecked> load_unchecked(const storage::Database& db, JobId id) {
  Job job = storage::find_job(db, id).value();
  Job asked = job.repeats ? storage::find_job(db, *job.repeats).value() : job;
  if (storage::awaits_earlier_session(db, asked)) return std::nullopt;
  const std::vector<Job> repeats = storage::repeats_of(db, asked.id);
  const auto earlier = std::count_if(repeats.begin(), repeats.end(), [&](const Job& repeat) {
    return repeat.id.value <= id.value;
  });
  Unchecked unchecked{std::move(asked),
                      std::move(job),
                      static_cast<int>(earlier),
                      storage::session_of(db, id).value(),
                      {}};
  auto checks = storage::last_checks(db, unchecked.job.machine, storage::facts_of_job(db, id),
                                     2 * remembered_sessions);
  std::erase_if(checks, [](const SessionCheck& check) { return check.control <= 0; });
  unchecked.history = usable_history(checks);
  if (unchecked.job.spec.uses_gpu() && only_power_capped(unchecked.result))
    unchecked.cap = load_cap(db, unchecked.job, unchecked.result);
  if (unchecked.job.spec.kind == JobKind::screen)
    unchecked.nights = storage::controls_before(db, id, remembered_nights);
  return unchecked;
}

Checked check(const Unchecked& unchecked) {
  Checked checked{
      check_session(unchecked.job.spec, unchecked.result, unchecked.history, unchecked.cap), {}};
  if (unchecked.job.spec.kind == JobKind::screen)
    checked.check.readings = control_readings(unchecked, checked.check);
  if (checked.check.usable || unchecked.repeat == most_repeats) return checked;
  Job again;
  again.key = unchecked.asked.key + "/again:" + std::to_string(unchecked.repeat + 1);
  again.repeats = unchecked.asked.id;
  again.night = unchecked.job.night;
  again.machine = unchecked.job.machine;
  again.spec = unchecked.job.spec;
  again.priority = unchecked.job.priority;
  checked.again = std::move(again);
  return checked;
}

bool check_sessions(EngineContext& context) {
  return for_each_item(context, "session of job", storage::unchecked_sessions(context.db),
                       [&](JobId id) {
                         const auto unchecked = load_unchecked(context.db, id);
                         if (!unchecked) return false;
                         const Checked checked = check(*unchecked);
                         storage::Transaction transaction(context.db);
                         storage::add_check(transaction, unchecked->job, checked.check);
                         if (checked.again)
                           queue_job(transaction, *checked.again, context.clock.now());
                         transaction.commit();
                         return true;
                       });
}

Job queue_job(storage::Transaction& transaction, Job job, Time now) {
  for (Workload& workload : job.spec.workloads)
    workload.id = storage::intern_workload(transaction, workload.name, workload.version).id;
  job.created_at = now;
  return storage::add_job(transaction, job);
}

}  // namespace nightjar::service
