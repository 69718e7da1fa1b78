#include "service/engine/nights.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "service/discovery/overlay.hpp"
#include "service/engine/screening.hpp"
#include "service/engine/session_plan.hpp"
#include "service/engine/sessions.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/nights.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"

namespace nightjar::service {
namespace {
using namespace std::chrono_literals;

constexpr auto kPatience = 12h;       // how long a night waits for a new build
constexpr auto kRunnerPatience = 24h;  // and a measuring one for a runner

void announce(Desk& desk, const Night& night) {
  desk.publish("night", nlohmann::json{{"id", night.id.value},
                                       {"state", name_of(night.state)},
                                       {"build", night.build ? night.build->value : 0}}
                            .dump());
}

void move(Desk& desk, Night& night, NightState state, std::string reason = {}) {
  night.state = state;
  if (!reason.empty()) night.reason = std::move(reason);
  if (state == NightState::done) night.finished_at = desk.clock.now();
  storage::update_night(desk.db, night);
  announce(desk, night);
}

std::vector<Runner> live_runners(Desk& desk) {
  std::vector<Runner> live = storage::all_runners(desk.db);
  const Time oldest = desk.clock.now() - desk.config.queue.runner_silent;
  std::erase_if(live, [&](const Runner& runner) { return runner.seen_at < oldest; });
  return live;
}

std::vector<Job> jobs_asked(Desk& desk, const Night& night) {
  std::vector<Job> jobs = storage::jobs_of_night(desk.db, night.id, JobKind::screen);
  std::erase_if(jobs, [](const Job& job) { return job.key.find("/again:") != std::string::npos; });
  return jobs;
}

// Sessions of machine classes that have none yet.
bool plan_missing(Desk& desk, const Night& night, const std::vector<Job>& asked) {
  const auto build = storage::find_build(desk.db, *night.build);
  if (!build) return false;
  bool planned = false;
  for (const Job& job : plan_screen(night, environment_of(*build), live_runners(desk),
                                    desk.config.night)) {
    const bool has_sessions = std::any_of(asked.begin(), asked.end(), [&](const Job& known) {
      return known.machine == job.machine;
    });
    if (has_sessions) continue;
    queue_job(desk, job);
    planned = true;
  }
  return planned;
}

bool advance_measuring(Desk& desk, Night& night) {
  const std::vector<Job> asked = jobs_asked(desk, night);
  if (plan_missing(desk, night, asked)) return true;
  if (asked.empty()) {
    if (desk.clock.now() - night.started_at < kRunnerPatience) return false;
    move(desk, night, NightState::done, "no runner that can run the workloads appeared");
    return true;
  }
  std::vector<Job> usable;
  std::string failures;
  for (const Job& job : asked) {
    const Settled settled = settle(desk, job);
    if (settled.state == Settled::State::pending) return false;
    if (settled.state == Settled::State::usable) usable.push_back(settled.job);
    if (settled.state == Settled::State::failed) failures = settled.reason;
  }
  storage::Transaction transaction(desk.db);
  screen_night(desk, night, usable);
  move(desk, night, NightState::judging, std::move(failures));
  transaction.commit();
  return true;
}

bool advance_judging(Desk& desk, Night& night) {
  for (const Regression& regression : storage::regressions_of_night(desk.db, night.id))
    if (regression.state == RegressionState::suspected) return false;
  move(desk, night, NightState::done);
  return true;
}

void give(Desk& desk, Night& night, const Build& build) {
  night.build = build.id;
  move(desk, night, NightState::measuring);
}

}  // namespace

bool start_scheduled_night(Desk& desk) {
  if (desk.config.night.at.empty()) return false;
  const Time now = desk.clock.now();
  const std::string today = to_date(now);
  const auto due = parse_rfc3339(today + "T" + desk.config.night.at + ":00Z");
  if (!due || now < *due || storage::get_note(desk.db, "scheduled-night") == today) return false;
  storage::Transaction transaction(desk.db);
  storage::set_note(desk.db, "scheduled-night", today);
  Night night;
  night.trigger = NightTrigger::schedule;
  night.started_at = now;
  night = storage::add_night(desk.db, night);
  storage::add_audit(desk.db, {0, now, "schedule", "start-night",
                               "night/" + std::to_string(night.id.value)});
  transaction.commit();
  announce(desk, night);
  return true;
}

bool assign_builds(Desk& desk, bool surveyed) {
  if (!surveyed) return false;
  const auto newest = storage::newest_proved(desk.db, desk.config.source.variant);
  const bool is_new = newest && !storage::find_night_of_build(desk.db, newest->id);
  bool changed = false;
  bool taken = false;
  for (Night& night : storage::open_nights(desk.db)) {
    if (night.state != NightState::waiting) continue;
    if (is_new && !taken) {
      give(desk, night, *newest);
      changed = taken = true;
    } else if (night.trigger == NightTrigger::api && newest) {
      give(desk, night, *newest);  // somebody asked: measure it again
      changed = true;
    } else if (desk.clock.now() - night.started_at > kPatience) {
      move(desk, night, NightState::done, "no new build appeared within 12 hours");
      changed = true;
    }
  }
  if (!is_new || taken || !desk.config.night.on_new_build) return changed;
  Night night;
  night.trigger = NightTrigger::build;
  night.started_at = desk.clock.now();
  night.state = NightState::measuring;
  night.build = newest->id;
  storage::Transaction transaction(desk.db);
  night = storage::add_night(desk.db, night);
  storage::add_audit(desk.db, {0, night.started_at, "build:" + newest->version, "start-night",
                               "night/" + std::to_string(night.id.value)});
  transaction.commit();
  announce(desk, night);
  return true;
}

bool advance_nights(Desk& desk) {
  bool changed = false;
  for (Night& night : storage::open_nights(desk.db)) {
    if (night.state == NightState::measuring) changed |= advance_measuring(desk, night);
    if (night.state == NightState::judging) changed |= advance_judging(desk, night);
  }
  return changed;
}

}  // namespace nightjar::service
