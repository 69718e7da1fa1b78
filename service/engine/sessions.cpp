#include "service/engine/sessions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "bisect/statistics.hpp"
#include "storage/jobs.hpp"
#include "storage/model/run_value.hpp"
#include "storage/nights.hpp"
#include "storage/runners.hpp"

namespace nightjar::service {
namespace {
using nlohmann::json;

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

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * share);
  return text;
}

std::string note_name(const Job& job) { return "control/" + std::to_string(job.machine.value); }

// The controls of usable sessions. Void sessions in a row that agree are no accident: the machine has
// another level now, and its history begins with them.
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

// The history before this job, and whether this job is in it already.
std::pair<std::vector<double>, bool> history_before(Desk& desk, const Job& job) {
  const json list = json::parse(storage::get_note(desk.db, note_name(job)).value_or("[]"));
  History history;
  for (const json& entry : list) {
    if (entry.at("job") == job.id.value) return {history.controls(), true};
    history.add(entry.at("control"), entry.at("usable"));
  }
  return {history.controls(), false};
}

void remember(Desk& desk, const Job& job, const SessionCheck& check) {
  json list = json::parse(storage::get_note(desk.db, note_name(job)).value_or("[]"));
  list.push_back({{"job", job.id.value}, {"control", check.control}, {"usable", check.usable}});
  while (list.size() > 2 * kHistory) list.erase(list.begin());
  storage::set_note(desk.db, note_name(job), list.dump());
}

SessionCheck judge(Desk& desk, const Job& job) {
  const auto session = storage::session_of(desk.db, job.id);
  if (!session) return {false, "its session is not stored", 0};
  const auto [history, known] = history_before(desk, job);
  const SessionCheck check = check_session(job.spec, *session, history);
  if (!known && check.control > 0) remember(desk, job, check);
  return check;
}

std::string key_of_repeat(const std::string& key, int repeat) {
  return repeat == 0 ? key : key + "/again:" + std::to_string(repeat);
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

Job queue_job(Desk& desk, Job job) {
  for (Workload& workload : job.spec.workloads)
    workload = storage::intern_workload(desk.db, workload.name, workload.version);
  job.created_at = desk.clock.now();
  return storage::add_job(desk.db, job);
}

Settled settle(Desk& desk, const Job& asked) {
  for (int repeat = 0;; ++repeat) {
    const auto job = storage::find_job(desk.db, key_of_repeat(asked.key, repeat));
    if (!job) return {Settled::State::pending, {}, ""};
    if (job->state == JobState::queued || job->state == JobState::leased)
      return {Settled::State::pending, *job, ""};
    if (job->state != JobState::done)
      return {Settled::State::failed, *job, "the session failed: " + job->reason};
    const SessionCheck check = judge(desk, *job);
    if (check.usable) return {Settled::State::usable, *job, ""};
    if (repeat == kRepeats)
      return {Settled::State::failed, *job, "the session was void three times: " + check.reason};
    Job again;
    again.key = key_of_repeat(asked.key, repeat + 1);
    again.night = job->night;
    again.machine = job->machine;
    again.spec = job->spec;
    again.priority = job->priority;
    queue_job(desk, std::move(again));
  }
}

}  // namespace nightjar::service
