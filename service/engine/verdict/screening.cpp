#include "service/engine/verdict/screening.hpp"

#include <algorithm>
#include <cmath>

#include "bisect/detection.hpp"
#include "bisect/evidence/evidence.hpp"
#include "service/engine/verdict/seen.hpp"
#include "storage/marks.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

constexpr std::size_t kSample = 3;  // of series that moved together, so many are looked into

void suspect(Desk& desk, const Night& night, const Seen& seen, FoundBy found_by, BuildId good,
             double before, double after, const std::string& why) {
  Regression regression;
  regression.found_by = found_by;
  regression.night = night.id;
  regression.machine = seen.series.machine;
  regression.good = good;
  regression.bad = *night.build;
  const double ratio = after / before;
  regression.series = {{seen.series.id, before, after, ratio, ratio, ratio}};
  regression.opened_at = regression.updated_at = desk.clock.now();
  storage::write(desk.db, [&](storage::Transaction& transaction) {
    storage::add_regression(transaction, regression,
                            {RegressionState::suspected, desk.clock.now(), why});
  });
}

void record_improvement(Desk& desk, const Night& night, const Seen& seen) {
  const double larger = std::abs(std::log(seen.screen.level / seen.screen.reference));
  if (larger < std::log1p(seen.policy.threshold)) return;
  storage::write(desk.db, [&](storage::Transaction& transaction) {
    storage::add_improvement(transaction,
                             {0, night.id, seen.series.id, *night.build, seen.screen.reference,
                              seen.screen.level, desk.clock.now()});
  });
}

// The slow path. True if a creep was found and its regression opened.
bool open_creep(Desk& desk, const Night& night, const Seen& seen) {
  std::vector<double> levels{seen.screen.level};
  for (const Level& level : seen.levels) levels.push_back(level.value);
  const auto found = bisect::creep(levels, seen.policy);
  if (!found) return false;
  const Level& reference = seen.levels.at(found->reference - 1);
  if (reference.build == *night.build) return false;
  suspect(desk, night, seen, FoundBy::creep, reference.build, found->before, found->after,
          evidence::of_creep(*found, seen.tonight, levels, seen.policy));
  return true;
}

void judge(Desk& desk, const Night& night, const Seen& seen) {
  if (seen.suspicious) return;
  if (seen.worse()) {
    suspect(desk, night, seen, FoundBy::screening, seen.levels.front().build, seen.screen.reference,
            seen.screen.level,
            evidence::of_screening(seen.screen, seen.tonight, seen.level_values, seen.policy));
    return;
  }
  if (seen.better()) record_improvement(desk, night, seen);
  if (!seen.better() && open_creep(desk, night, seen)) return;
  accept_level(desk, night, seen);
}

// Whether this night left the series without a verdict.
bool is_held(Desk& desk, const Night& night, const Seen& seen,
             const std::vector<Regression>& regressions) {
  const auto levels =
      storage::levels_before(desk.db, seen.series.id, NightId{night.id.value + 1}, 1);
  if (seen.suspicious) return false;
  const bool has_level = !levels.empty() && levels.front().night == night.id;
  return !has_level &&
         std::none_of(regressions.begin(), regressions.end(), [&](const Regression& r) {
           return r.series.front().series == seen.series.id;
         });
}

}  // namespace

std::string screen_night(Desk& desk, const Night& night, const std::vector<Job>& usable) {
  std::string held;
  for (const auto& [group, all] : look(desk, night, usable)) {
    const auto together = moved_together(all);
    std::size_t opened = 0;
    for (const Seen* seen : together)
      if (seen->worse() && opened < kSample) {
        judge(desk, night, *seen);
        ++opened;
      }
    for (const Seen& seen : all)
      if (std::find(together.begin(), together.end(), &seen) == together.end())
        judge(desk, night, seen);
    if (together.empty()) continue;
    held = std::to_string(together.size()) + " of " + std::to_string(all.size()) + " series of " +
           group.second + " on machine class " + std::to_string(group.first.value) +
           " moved together; the " + std::to_string(opened) + " clearest are looked into";
  }
  return held;
}

void release_held(Desk& desk, const Night& night, const std::vector<Job>& usable) {
  const auto regressions = storage::regressions_of_night(desk.db, night.id);
  for (const auto& [group, all] : look(desk, night, usable)) {
    const bool confirmed = std::any_of(all.begin(), all.end(), [&](const Seen& seen) {
      return std::any_of(regressions.begin(), regressions.end(), [&](const Regression& r) {
        return r.series.front().series == seen.series.id && r.state != RegressionState::dismissed;
      });
    });
    const bool any_held = std::any_of(all.begin(), all.end(), [&](const Seen& seen) {
      return is_held(desk, night, seen, regressions);
    });
    if (confirmed || !any_held) continue;
    storage::Mark mark;
    mark.at = desk.clock.now();
    mark.actor = "nightjar";
    mark.after_night = NightId{night.id.value - 1};
    mark.machine = group.first;
    mark.metric = group.second;
    mark.reason =
        "most series moved together, and the builds do not differ side by side: the machine did";
    storage::write(
        desk.db, [&](storage::Transaction& transaction) { storage::add_mark(transaction, mark); });
    for (const Seen& seen : all) accept_level(desk, night, seen);
  }
}

}  // namespace nightjar::service
