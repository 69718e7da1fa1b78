#include "service/engine/jobs/sessions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "bisect/statistics.hpp"
#include "storage/jobs.hpp"
#include "storage/model/run_value.hpp"
#include "storage/runners.hpp"
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

std::string percent(double share) {
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

// Said once: what comes later must not change what an earlier session counted for.
SessionCheck judge(EngineContext& context, const Job& job) {
  if (auto known = storage::find_check(context.db, job.id)) return *std::move(known);
  const auto session = storage::session_of(context.db, job.id);
  if (!session) return {false, "its session is not stored", 0};
  History history;
  for (const SessionCheck& check : storage::last_checks(context.db, job.machine, 2 * kHistory))
    if (check.control > 0) history.add(check.control, check.usable);
  SessionCheck check = check_session(job.spec, *session, history.controls());
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::add_check(transaction, job, check);
  });
  return check;
}

Settled void_for_good(const Job& job, const SessionCheck& check) {
  return {Settled::State::failed, job, "the session was void three times: " + check.reason,
          kRepeats};
}

}  // namespace

SessionCheck check_session(const JobSpec& spec, const SessionResult& result,
                           const std::vector<double>& history) {
  SessionCheck check;
  check.control = control_location(spec, result);
  if (result.after.steal_share > kMostSteal) {
    check.usable = false;
    check.reason = "the machine lost " + percent(result.after.steal_share) +
                   " of its CPU time to others (steal)";
    return check;
  }
  if (const auto events = throttling(result.after.gpus); !events.empty() && uses_gpu(spec)) {
    check.usable = false;
    check.reason = "the GPU's clocks were held down (" + events + ")";
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
                   percent(deviation) + " (limit " + percent(limit) + ")";
  }
  return check;
}

Job queue_job(EngineContext& context, Job job) {
  storage::Transaction transaction(context.db);
  for (Workload& workload : job.spec.workloads)
    workload = storage::intern_workload(transaction, workload.name, workload.version);
  job.created_at = context.clock.now();
  job = storage::add_job(transaction, job);
  transaction.commit();
  return job;
}

Settled standing(storage::Database& db, const Job& asked) {
  const std::vector<Job> repeats = storage::repeats_of(db, asked.id);
  Job job = asked;
  for (int repeat = 0;; ++repeat) {
    if (job.state == JobState::queued || job.state == JobState::leased)
      return {Settled::State::pending, job, "", repeat};
    if (job.state != JobState::done)
      return {Settled::State::failed, job, "the session failed: " + job.reason, repeat};
    const auto check = storage::find_check(db, job.id);
    if (!check) return {Settled::State::pending, job, "", repeat};
    if (check->usable) return {Settled::State::usable, job, "", repeat};
    if (repeat == kRepeats) return void_for_good(job, *check);
    if (std::cmp_equal(repeat, repeats.size())) return {Settled::State::pending, job, "", repeat};
    job = repeats[static_cast<std::size_t>(repeat)];
  }
}

Settled settle(EngineContext& context, const Job& asked) {
  Settled now = standing(context.db, asked);
  if (now.state != Settled::State::pending || now.job.state != JobState::done) return now;
  const SessionCheck check = judge(context, now.job);
  if (check.usable) return {Settled::State::usable, now.job, "", now.repeat};
  if (now.repeat == kRepeats) return void_for_good(now.job, check);
  Job again;
  again.key = asked.key + "/again:" + std::to_string(now.repeat + 1);
  again.repeats = asked.id;
  again.night = now.job.night;
  again.machine = now.job.machine;
  again.spec = now.job.spec;
  again.priority = now.job.priority;
  return {Settled::State::pending, queue_job(context, std::move(again)), "", now.repeat + 1};
}

}  // namespace nightjar::service
