#include "service/engine/engine.hpp"

#include <exception>
#include <set>
#include <spdlog/spdlog.h>

#include "service/builds/artifacts.hpp"
#include "service/engine/night/nights.hpp"
#include "service/engine/outcome/follow_up.hpp"
#include "service/engine/outcome/reporting.hpp"
#include "service/engine/search/bisections.hpp"
#include "service/engine/trust/calibration.hpp"
#include "service/engine/trust/replays.hpp"
#include "service/engine/verdict/confirmations.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/nights.hpp"
#include "storage/regressions.hpp"
#include "storage/trouble.hpp"

namespace nightjar::service {
namespace {

constexpr int kMostRounds = 50;  // of one tick; the next one goes on

template <class Step>
bool attempt(Desk& desk, const char* name, Step step) {
  // What is damaged is not written to, and one step has said so.
  if (const auto trouble = storage::trouble_of(desk.db); trouble && trouble->damaged) return false;
  try {
    const bool changed = step();
    desk.complaints.works(name);
    return changed;
  } catch (const std::exception& error) {
    desk.complaints.fails(name, error.what());
    return false;
  }
}

bool round(Desk& desk, bool surveyed) {
  bool changed = false;
  changed |= attempt(desk, "schedule", [&] { return start_scheduled_night(desk); });
  changed |= attempt(desk, "assign", [&] { return assign_builds(desk, surveyed); });
  changed |= attempt(desk, "nights", [&] { return advance_nights(desk); });
  changed |= attempt(desk, "confirm", [&] { return advance_confirmations(desk); });
  changed |= attempt(desk, "search", [&] { return start_bisections(desk); });
  changed |= attempt(desk, "bisect", [&] { return advance_bisections(desk); });
  changed |= attempt(desk, "calibrate", [&] { return judge_calibrations(desk); });
  changed |= attempt(desk, "report", [&] { return report_blamed(desk); });
  changed |= attempt(desk, "recover", [&] { return watch_recovery(desk); });
  changed |= attempt(desk, "follow", [&] { return follow_reported(desk); });
  return changed;
}

std::set<BuildId> builds_in_use(Desk& desk) {
  std::set<BuildId> used;
  for (const Night& night : storage::open_nights(desk.db))
    if (night.build) used.insert(*night.build);
  using enum RegressionState;
  for (const RegressionState state : {suspected, unconfirmed, confirmed, bisecting, blamed}) {
    for (const Regression& regression : storage::regressions_in_state(desk.db, state)) {
      if (state == unconfirmed && !awaits_confirmation(regression)) continue;
      used.insert(regression.good);
      used.insert(regression.bad);
    }
  }
  // The next night's regressions will be confirmed against the newest build.
  if (const auto newest = storage::newest_proved(desk.db, desk.config.source.variant))
    used.insert(newest->id);
  return used;
}

}  // namespace

bool tick(Desk& desk, bool surveyed) {
  bool changed = attempt(desk, "leases", [&] {
    const auto expired = storage::write(desk.db, [&](storage::Transaction& transaction) {
      return storage::expire_leases(transaction, desk.clock.now());
    });
    for (const JobId id : expired) spdlog::warn("lease expired job={}", id.value);
    return !expired.empty();
  });
  for (int rounds = 0; rounds < kMostRounds && round(desk, surveyed); ++rounds) changed = true;
  attempt(desk, "replay", [&] { return replay_one(desk), false; });
  return changed;
}

void pin_artifacts(Desk& desk) {
  std::set<Sha256> pinned;
  for (const BuildId id : builds_in_use(desk))
    if (const auto build = storage::find_build(desk.db, id); build && build->sha256)
      pinned.insert(*build->sha256);
  desk.artifacts.pin(std::move(pinned));
}

std::vector<Build> missing_wheels(Desk& desk) {
  std::vector<Build> missing;
  for (const BuildId id : builds_in_use(desk)) {
    const auto build = storage::find_build(desk.db, id);
    if (build && build->sha256 && !desk.artifacts.holds(*build->sha256)) missing.push_back(*build);
  }
  return missing;
}

}  // namespace nightjar::service
