#include "service/engine/engine.hpp"

#include <exception>
#include <set>

#include "service/builds/artifacts.hpp"
#include "service/engine/jobs/claimable.hpp"
#include "service/engine/night/nights.hpp"
#include "service/engine/night/starting.hpp"
#include "service/engine/night/suites.hpp"
#include "service/engine/outcome/digests.hpp"
#include "service/engine/outcome/follow_up.hpp"
#include "service/engine/outcome/joined_findings.hpp"
#include "service/engine/outcome/reporting.hpp"
#include "service/engine/outcome/unattributed.hpp"
#include "service/engine/search/bisections.hpp"
#include "service/engine/search/commit_states.hpp"
#include "service/engine/search/fix_searches.hpp"
#include "service/engine/search/package_searches.hpp"
#include "service/engine/search/revival.hpp"
#include "service/engine/trust/calibration.hpp"
#include "service/engine/trust/replays.hpp"
#include "service/engine/trust/retention.hpp"
#include "service/engine/verdict/confirmations.hpp"
#include "service/engine/verdict/histories.hpp"
#include "storage/base/log.hpp"
#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/ci_lookups.hpp"
#include "storage/jobs.hpp"
#include "storage/nights.hpp"
#include "storage/regressions.hpp"
#include "storage/source_builds.hpp"
#include "storage/trouble.hpp"

namespace nightjar::service {
namespace {

constexpr int most_rounds = 50;  // of one tick; the next one goes on

template <class Step>
bool attempt(EngineContext& context, const char* name, Step step) {
  // What is damaged is not written to, and one step has said so.
  if (const auto trouble = storage::trouble_of(context.db); trouble && trouble->damaged)
    return false;
  try {
    const bool changed = step();
    context.complaints.works(name);
    return changed;
  } catch (const std::exception& error) {
    context.complaints.fails(name, error.what());
    return false;
  }
}

// What would be concluded from an empty history is final, and wrong.
bool knows_history(const EngineView& view) {
  return view.graph.resolve(view.config.repository.main).has_value();
}

bool search_for_culprits(EngineContext& context) {
  if (!knows_history(context)) return false;
  bool changed = attempt(context, "search", [&] { return start_bisections(context); });
  changed |= attempt(context, "native states", [&] { return record_commit_states(context); });
  changed |= attempt(context, "revive", [&] { return revive_searches(context); });
  changed |= attempt(context, "search fixes", [&] { return start_fix_searches(context); });
  changed |= attempt(context, "bisect", [&] { return advance_bisections(context); });
  return changed;
}

// After all that a tick decides, so that a digest has it.
bool tell_of_periods(EngineContext& context) {
  if (!knows_history(context)) return false;
  bool changed = attempt(context, "digest", [&] { return file_digest(context); });
  changed |= attempt(context, "fixes", [&] { return file_fixes(context); });
  return changed;
}

bool round(EngineContext& context, bool surveyed) {
  bool changed = attempt(context, "check", [&] { return check_sessions(context); });
  changed |= attempt(context, "schedule", [&] { return start_scheduled_night(context); });
  changed |= attempt(context, "assign", [&] { return assign_builds(context, surveyed); });
  changed |= attempt(context, "nights", [&] { return advance_nights(context); });
  changed |= attempt(context, "confirm", [&] { return advance_confirmations(context); });
  changed |= attempt(context, "packages", [&] { return advance_package_searches(context); });
  changed |= search_for_culprits(context);
  changed |= attempt(context, "calibrate", [&] { return judge_calibrations(context); });
  changed |= attempt(context, "gather", [&] { return gather_unattributed(context); });
  changed |= attempt(context, "joined", [&] { return tell_joined(context); });
  changed |= attempt(context, "report", [&] { return report_blamed(context); });
  changed |= attempt(context, "recover", [&] { return watch_recovery(context); });
  changed |= attempt(context, "histories", [&] { return judge_histories(context); });
  changed |= attempt(context, "follow", [&] { return follow_reported(context); });
  changed |= attempt(context, "suites", [&] { return sum_up_nights(context); });
  return changed;
}

std::set<BuildId> builds_in_use(const EngineView& view) {
  std::set<BuildId> used;
  for (const Night& night : storage::open_nights(view.db))
    if (night.build) used.insert(*night.build);
  using enum RegressionState;
  for (const RegressionState state : {suspected, unconfirmed, confirmed, bisecting, blamed}) {
    for (const Regression& regression : storage::regressions_in_state(view.db, state)) {
      if (state == unconfirmed && !awaits_confirmation(regression)) continue;
      used.insert(regression.good);
      used.insert(regression.bad);
    }
  }
  for (const Bisection& search : storage::open_bisections(view.db)) {
    if (search.fix) used.insert({search.good, search.bad});
    if (const auto good = storage::find_build(view.db, search.good))
      used.insert(good->base.value_or(good->id));
  }
  for (const FixToSearch& fix : load_fixes_to_search(view)) {
    if (fix.before) used.insert(fix.before->id);
    used.insert(fix.id);
  }
  for (const BuildId id : storage::ci_builds_of_open_searches(view.db)) used.insert(id);
  // A wheel that a builder has sent must last until it is proved.
  if (const auto made = storage::unproved_source_build(view.db)) used.insert(*made->build);
  for (const BuildId base : storage::bases_of_open_searches(view.db)) used.insert(base);
  for (const Build& wheel : lost_wheels(view)) used.insert(wheel.id);
  // The next night's regressions will be confirmed against the newest build.
  for (const Config::Source* source : sources_of(view.config))
    if (const auto newest = storage::newest_proved(view.db, source->variant))
      used.insert(newest->id);
  return used;
}

}  // namespace

Ticked tick(EngineContext& context, bool surveyed, std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  bool changed = attempt(context, "leases", [&] {
    const auto expired = storage::write(context.db, [&](storage::Transaction& transaction) {
      return storage::expire_leases(transaction, context.clock.now());
    });
    for (const JobId id : expired) log::warn("lease expired job={}", id.value);
    return !expired.empty();
  });
  changed |= attempt(context, "queue", [&] { return watch_queue(context); });
  bool goes_on = true;
  for (int rounds = 0; goes_on && rounds < most_rounds; ++rounds) {
    goes_on = round(context, surveyed);
    changed |= goes_on;
    if (goes_on && std::chrono::steady_clock::now() >= end) return {changed, true};
  }
  changed |= tell_of_periods(context);
  attempt(context, "replay", [&] { return replay_one(context), false; });
  attempt(context, "retention", [&] { return drop_old_samples(context), false; });
  return {changed, false};
}

void pin_artifacts(EngineContext& context) {
  std::set<Sha256> pinned;
  for (const BuildId id : builds_in_use(context))
    if (const auto build = storage::find_build(context.db, id); build && build->sha256)
      pinned.insert(*build->sha256);
  context.artifacts.pin(std::move(pinned));
}

bool has_lost_history(const EngineView& view) {
  if (knows_history(view)) return false;
  const auto sources = sources_of(view.config);
  return std::any_of(sources.begin(), sources.end(), [&](const Config::Source* source) {
    return storage::newest_proved(view.db, source->variant).has_value();
  });
}

std::vector<Build> missing_wheels(const EngineView& view) {
  std::vector<Build> missing;
  for (const BuildId id : builds_in_use(view)) {
    const auto build = storage::find_build(view.db, id);
    if (build && build->sha256 && !view.artifacts.holds(*build->sha256)) missing.push_back(*build);
  }
  return missing;
}

}  // namespace nightjar::service
