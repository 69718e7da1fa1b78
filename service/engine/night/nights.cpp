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

void announce(EngineContext& context, const Night& night) {
  context.publish("night", nlohmann::json{{"id", night.id.value},
                                          {"state", name_of(night.state)},
                                          {"build", night.build ? night.build->value : 0}}
                               .dump());
}

void move(EngineContext& context, Night& night, NightState state, std::string reason = {}) {
  night.state = state;
  if (!reason.empty()) night.reason = std::move(reason);
  if (state == NightState::done) night.finished_at = context.clock.now();
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::update_night(transaction, night);
  });
  announce(context, night);
}

// By the noise of the workload's latency in the nights before.
int runs_of(EngineContext& context, MachineId machine, const std::string& name, int version) {
  const int usual = context.config.night.runs;
  const Workload workload = storage::write(context.db, [&](storage::Transaction& transaction) {
    return storage::intern_workload(transaction, *WorkloadName::parse(name), version);
  });
  const auto series = storage::find_series(context.db, workload.id, "latency", machine,
                                           context.config.source.variant);
  return series ? bisect::runs_a_night(noise_of(context.db, *series).kind, usual) : usual;
}

// Sessions of machine classes that have none yet.
bool plan_missing(EngineContext& context, const Night& night, const std::vector<Job>& asked) {
  const auto build = storage::find_build(context.db, *night.build);
  if (!build) return false;
  std::vector<Runner> without = live_runners(context);
  std::erase_if(without, [&](const Runner& runner) {
    return std::any_of(asked.begin(), asked.end(),
                       [&](const Job& known) { return known.machine == runner.machine; });
  });
  const auto runs = [&](MachineId machine, const std::string& workload, int version) {
    return runs_of(context, machine, workload, version);
  };
  const auto jobs = plan_screen(night, environment_of(*build), without, context.config.night, runs);
  storage::Transaction transaction(
      context.db);  // a machine class that has one job counts as planned
  for (const Job& job : jobs) queue_job(context, job);
  transaction.commit();
  return !jobs.empty();
}

// What the night's sessions came to; nullopt while one is under way.
struct Sessions {
  std::vector<Job> usable;
  std::string failure;  // of the last one that failed
};
std::optional<Sessions> settled_sessions(EngineContext& context, const std::vector<Job>& asked) {
  Sessions out;
  for (const Job& job : asked) {
    const Settled settled = settle(context, job);
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

bool advance_measuring(EngineContext& context, Night& night) {
  const std::vector<Job> asked = storage::jobs_of_night(context.db, night.id, JobKind::screen);
  if (plan_missing(context, night, asked)) return true;
  if (asked.empty()) {
    if (context.clock.now() - night.started_at < kRunnerPatience) return false;
    move(context, night, NightState::done, "no runner that can run the workloads appeared");
    return true;
  }
  const auto sessions = settled_sessions(context, asked);
  if (!sessions) return false;
  storage::Transaction transaction(context.db);
  const std::string held = screen_night(context, night, sessions->usable);
  resume_confirmations(context, night, machines_of(sessions->usable));
  plan_calibration(context, night, sessions->usable);
  move(context, night, NightState::judging, held.empty() ? sessions->failure : held);
  transaction.commit();
  return true;
}

// What a person reads beside the night: nothing if it left no suspicion open.
std::string unconfirmed_text(EngineContext& context, const Night& night) {
  int open = 0;
  for (const Regression& regression : storage::regressions_of_night(context.db, night.id))
    open += regression.state == RegressionState::unconfirmed;
  if (open == 0) return {};
  return (night.reason.empty() ? "" : night.reason + "; ") + std::to_string(open) +
         (open == 1 ? " suspicion" : " suspicions") +
         " could not be confirmed: see the unconfirmed regressions";
}

bool advance_judging(EngineContext& context, Night& night) {
  for (const Regression& regression : storage::regressions_of_night(context.db, night.id))
    if (regression.state == RegressionState::suspected) return false;
  const auto sessions =
      settled_sessions(context, storage::jobs_of_night(context.db, night.id, JobKind::screen));
  storage::Transaction transaction(context.db);
  if (sessions) release_held(context, night, sessions->usable);
  move(context, night, NightState::done, unconfirmed_text(context, night));
  transaction.commit();
  return true;
}

void give(EngineContext& context, Night& night, const Build& build) {
  night.build = build.id;
  move(context, night, NightState::measuring);
}

// While no runner is alive, one night is enough to begin with when one comes.
bool piles_up(EngineContext& context) {
  if (!live_runners(context).empty()) return false;
  return storage::waiting_night(context.db, NightTrigger::schedule) ||
         storage::unclaimed_night(context.db, std::nullopt);
}

}  // namespace

bool start_scheduled_night(EngineContext& context) {
  if (context.config.night.at.empty()) return false;
  const Time now = context.clock.now();
  const std::string today = to_date(now);
  const auto due = parse_rfc3339(today + "T" + context.config.night.at + ":00Z");
  if (!due || now < *due || storage::get_note(context.db, "scheduled-night") == today) return false;
  storage::Transaction transaction(context.db);
  storage::set_note(transaction, "scheduled-night", today);
  if (piles_up(context)) {
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
  announce(context, night);
  return true;
}

bool assign_builds(EngineContext& context, bool surveyed) {
  if (!surveyed) return false;
  const auto newest = storage::newest_proved(context.db, context.config.source.variant);
  const bool is_new = newest && !storage::find_night_of_build(context.db, newest->id);
  bool changed = false;
  bool taken = false;
  for (Night& night : storage::open_nights(context.db)) {
    if (night.state != NightState::waiting) continue;
    if (is_new && !taken) {
      give(context, night, *newest);
      changed = taken = true;
    } else if (night.trigger == NightTrigger::api && newest) {
      give(context, night, *newest);  // somebody asked: measure it again
      changed = true;
    } else if (context.clock.now() - night.started_at > kPatience) {
      move(context, night, NightState::done, "no new build appeared within 12 hours");
      changed = true;
    }
  }
  if (!is_new || taken || !context.config.night.on_new_build || piles_up(context)) return changed;
  Night night;
  night.trigger = NightTrigger::build;
  night.started_at = context.clock.now();
  night.state = NightState::measuring;
  night.build = newest->id;
  storage::Transaction transaction(context.db);
  night = storage::add_night(transaction, night);
  storage::add_audit(transaction, {0, night.started_at, "build:" + newest->version, "start-night",
                                   "night/" + std::to_string(night.id.value)});
  transaction.commit();
  announce(context, night);
  return true;
}

bool advance_nights(EngineContext& context) {
  bool changed = false;
  for (Night& night : storage::open_nights(context.db)) {
    if (night.state == NightState::measuring) changed |= advance_measuring(context, night);
    if (night.state == NightState::judging) changed |= advance_judging(context, night);
  }
  return changed;
}

}  // namespace nightjar::service
