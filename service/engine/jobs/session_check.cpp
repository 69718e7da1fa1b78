#include "service/engine/jobs/session_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

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

constexpr std::size_t kHistory = 30;       // sessions remembered for each machine class
constexpr std::size_t kEnoughHistory = 8;  // before that there is no sd to hold a session to
// Below this share a control is never off: on shared machines it repeats no better.
constexpr double kLeastDeviation = .10;
// Share of all CPU time. Single disturbed iterations are known by their probes and left out by the
// runner; beyond this hardly any is undisturbed.
constexpr double kMostSteal = .15;
constexpr int kRepeats = 2;
constexpr std::size_t kAnotherLevel = 3;  // void sessions in a row ...
constexpr double kAgree = .05;            // ... whose controls differ by no more than this

constexpr double kSlowedByCap = .02;  // a share: kernels repeat within .25 % at equal clocks
constexpr int kMostVoidNights = 2;    // in a row, of a GPU whose clocks are free

double control_location(const JobSpec& spec, const SessionResult& result) {
  std::vector<double> locations;
  for (const RunResult& run : result.runs) {
    const auto index = static_cast<std::size_t>(run.order);
    if (index >= spec.order.size() || !spec.order[index].is_control()) continue;
    const auto latency = value_of(run, "latency");
    if (run.status == RunStatus::measured && latency) locations.push_back(*latency);
  }
  return locations.empty() ? 0 : bisect::median(locations);
}

bool uses_gpu(const JobSpec& spec) {
  return std::any_of(spec.workloads.begin(), spec.workloads.end(),
                     [](const Workload& workload) { return workload.name.device() == "cuda"; });
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

std::string signed_percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * share);
  return text;
}

// The controls of usable sessions. Void sessions in a row that agree are no accident: the machine
// has another level now, and its history begins with them.
class History {
 public:
  void add(double control, bool usable) {
    if (usable) {
      usable_.push_back(control);
      void_.clear();
      return;
    }
    if (!void_.empty() && std::abs(control / void_.front() - 1) > kAgree) void_.clear();
    void_.push_back(control);
    if (void_.size() == kAnotherLevel) usable_ = std::exchange(void_, {});
  }
  const std::vector<double>& controls() const { return usable_; }

 private:
  std::vector<double> usable_, void_;
};

SessionOutcome void_for_good(const Job& job, const std::string& reason) {
  return {SessionOutcome::State::failed, job, "the session was void three times: " + reason,
          kRepeats};
}

}  // namespace

SessionCheck check_session(const JobSpec& spec, const SessionResult& result,
                           const std::vector<double>& history, const PowerCap& cap) {
  SessionCheck check;
  check.control = control_location(spec, result);
  if (result.after.steal_share > kMostSteal) {
    check.usable = false;
    check.reason = "the machine lost " + signed_percent(result.after.steal_share) +
                   " of its CPU time to others (steal)";
    return check;
  }
  const std::string events = uses_gpu(spec) ? throttling(result.after.gpus) : "";
  if (!events.empty() && !only_power_capped(result)) {
    check.usable = false;
    check.reason = "the GPU's clocks were held down (" + events + ")";
    return check;
  }
  const bool fixed = holds(used_events(result), ClockEvent::applications_clocks_setting);
  if (!events.empty() && cap.slowdown && *cap.slowdown > 1 + kSlowedByCap &&
      (fixed || cap.void_nights < kMostVoidNights)) {
    check.usable = false;
    check.reason = "the GPU's power cap slowed it by " + signed_percent(*cap.slowdown - 1) +
                   " against other sessions of the same builds";
    return check;
  }
  if (check.control <= 0 || history.size() < kEnoughHistory) return check;
  const auto recent = history.end() - static_cast<long>(std::min(history.size(), kHistory));
  const std::vector<double> values(recent, history.end());
  const double usual = bisect::median(values);
  const double deviation = check.control / usual - 1;
  const double limit = std::max(3 * bisect::robust_sd(values) / usual, kLeastDeviation);
  if (std::abs(deviation) > limit) {
    check.usable = false;
    check.reason = "the control workload, which depends on the machine only, was off by " +
                   signed_percent(deviation) + " (limit " + signed_percent(limit) + ")";
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
    if (repeat == kRepeats) return void_for_good(job, check->reason);
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
  cap.void_nights = storage::void_nights_before(db, job.machine, job.night, kMostVoidNights);
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
  History history;
  for (const SessionCheck& check :
       storage::last_checks(db, unchecked.job.machine, storage::facts_of_job(db, id), 2 * kHistory))
    if (check.control > 0) history.add(check.control, check.usable);
  unchecked.history = history.controls();
  if (uses_gpu(unchecked.job.spec) && only_power_capped(unchecked.result))
    unchecked.cap = load_cap(db, unchecked.job, unchecked.result);
  return unchecked;
}

Checked check(const Unchecked& unchecked) {
  Checked checked{
      check_session(unchecked.job.spec, unchecked.result, unchecked.history, unchecked.cap), {}};
  if (checked.check.usable || unchecked.repeat == kRepeats) return checked;
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
