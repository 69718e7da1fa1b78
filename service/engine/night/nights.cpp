#include "service/engine/night/nights.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "service/builds/overlay.hpp"
#include "service/engine/jobs/live_runners.hpp"
#include "service/engine/jobs/session_plan.hpp"
#include "service/engine/jobs/sessions.hpp"
#include "service/engine/trust/calibration.hpp"
#include "service/engine/verdict/confirmations.hpp"
#include "service/engine/verdict/levels.hpp"
#include "service/engine/verdict/screening.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/nights.hpp"
#include "storage/regressions.hpp"
#include "storage/runners.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {
using namespace std::chrono_literals;

constexpr auto kPatience = 12h;        // how long a night waits for a new build
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
  storage::write(desk.db, [&](storage::Transaction& transaction) {
    storage::update_night(transaction, night);
  });
  announce(desk, night);
}

// By the noise of the workload's latency in the nights before.
int runs_of(Desk& desk, MachineId machine, const std::string& name, int version) {
  const int usual = desk.config.night.runs;
  const Workload workload = storage::write(desk.db, [&](storage::Transaction& transaction) {
    return storage::intern_workload(transaction, *WorkloadName::parse(name), version);
  });
  const auto series =
      storage::find_series(desk.db, workload.id, "latency", machine, desk.config.source.variant);
  return series ? bisect::runs_a_night(noise_of(desk.db, *series).kind, usual) : usual;
}

// Sessions of machine classes that have none yet.
bool plan_missing(Desk& desk, const Night& night, const std::vector<Job>& asked) {
  const auto build = storage::find_build(desk.db, *night.build);
  if (!build) return false;
  std::vector<Runner> without = live_runners(desk);
  std::erase_if(without, [&](const Runner& runner) {
    return std::any_of(asked.begin(), asked.end(),
                       [&](const Job& known) { return known.machine == runner.machine; });
  });
  const auto runs = [&](MachineId machine, const std::string& workload, int version) {
    return runs_of(desk, machine, workload, version);
  };
  const auto jobs = plan_screen(night, environment_of(*build), without, desk.config.night, runs);
  storage::Transaction transaction(desk.db);  // a machine class that has one job counts as planned
  for (const Job& job : jobs) queue_job(desk, job);
  transaction.commit();
  return !jobs.empty();
}

// What the night's sessions came to; nullopt while one is under way.
struct Sessions {
  std::vector<Job> usable;
  std::string failure;  // of the last one that failed
};
std::optional<Sessions> settled_sessions(Desk& desk, const std::vector<Job>& asked) {
  Sessions out;
  for (const Job& job : asked) {
    const Settled settled = settle(desk, job);
    if (settled.state == Settled::State::pending) return std::nullopt;
    if (settled.state == Settled::State::usable) out.usable.push_back(settled.job);
    if (settled.state == Settled::State::failed) out.failure = settled.reason;
  }
  return out;
}

std::set<MachineId> machines_of(const std::vector<Job>& sessions) {
  std::set<MachineId> machines;
  for (const Job& job : sessions) machines.insert(job.machine);
  return machines;
}

bool advance_measuring(Desk& desk, Night& night) {
  const std::vector<Job> asked = storage::jobs_of_night(desk.db, night.id, JobKind::screen);
  if (plan_missing(desk, night, asked)) return true;
  if (asked.empty()) {
    if (desk.clock.now() - night.started_at < kRunnerPatience) return false;
    move(desk, night, NightState::done, "no runner that can run the workloads appeared");
    return true;
  }
  const auto sessions = settled_sessions(desk, asked);
  if (!sessions) return false;
  storage::Transaction transaction(desk.db);
  const std::string held = screen_night(desk, night, sessions->usable);
  resume_confirmations(desk, night, machines_of(sessions->usable));
  plan_calibration(desk, night, sessions->usable);
  move(desk, night, NightState::judging, held.empty() ? sessions->failure : held);
  transaction.commit();
  return true;
}

// What a person reads beside the night: nothing if it left no suspicion open.
std::string unconfirmed_text(Desk& desk, const Night& night) {
  int open = 0;
  for (const Regression& regression : storage::regressions_of_night(desk.db, night.id))
    open += regression.state == RegressionState::unconfirmed;
  if (open == 0) return {};
  return (night.reason.empty() ? "" : night.reason + "; ") + std::to_string(open) +
         (open == 1 ? " suspicion" : " suspicions") +
         " could not be confirmed: see the unconfirmed regressions";
}

bool advance_judging(Desk& desk, Night& night) {
  for (const Regression& regression : storage::regressions_of_night(desk.db, night.id))
    if (regression.state == RegressionState::suspected) return false;
  const auto sessions =
      settled_sessions(desk, storage::jobs_of_night(desk.db, night.id, JobKind::screen));
  storage::Transaction transaction(desk.db);
  if (sessions) release_held(desk, night, sessions->usable);
  move(desk, night, NightState::done, unconfirmed_text(desk, night));
  transaction.commit();
  return true;
}

void give(Desk& desk, Night& night, const Build& build) {
  night.build = build.id;
  move(desk, night, NightState::measuring);
}

// While no runner is alive, one night is enough to begin with when one comes.
bool piles_up(Desk& desk) {
  if (!live_runners(desk).empty()) return false;
  return storage::waiting_night(desk.db, NightTrigger::schedule) ||
         storage::unclaimed_night(desk.db, std::nullopt);
}

}  // namespace

bool start_scheduled_night(Desk& desk) {
  if (desk.config.night.at.empty()) return false;
  const Time now = desk.clock.now();
  const std::string today = to_date(now);
  const auto due = parse_rfc3339(today + "T" + desk.config.night.at + ":00Z");
  if (!due || now < *due || storage::get_note(desk.db, "scheduled-night") == today) return false;
  storage::Transaction transaction(desk.db);
  storage::set_note(transaction, "scheduled-night", today);
  if (piles_up(desk)) {
    transaction.commit();
    return false;
  }
  Night night;
  night.trigger = NightTrigger::schedule;
  night.started_at = now;
  night = storage::add_night(transaction, night);
  storage::add_audit(
      transaction, {0, now, "schedule", "start-night", "night/" + std::to_string(night.id.value)});
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
  if (!is_new || taken || !desk.config.night.on_new_build || piles_up(desk)) return changed;
  Night night;
  night.trigger = NightTrigger::build;
  night.started_at = desk.clock.now();
  night.state = NightState::measuring;
  night.build = newest->id;
  storage::Transaction transaction(desk.db);
  night = storage::add_night(transaction, night);
  storage::add_audit(transaction, {0, night.started_at, "build:" + newest->version, "start-night",
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
