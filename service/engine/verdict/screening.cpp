#include "service/engine/verdict/screening.hpp"

#include <algorithm>
#include <cmath>

#include "bisect/detection.hpp"
#include "bisect/evidence/evidence.hpp"
#include "service/engine/verdict/observation.hpp"
#include "storage/marks.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

constexpr std::size_t kSample = 3;  // of series that moved together, so many are looked into

void suspect(EngineContext& context, const Night& night, const Observation& observed,
             FoundBy found_by, BuildId good, double before, double after, const std::string& why) {
  Regression regression;
  regression.found_by = found_by;
  regression.night = night.id;
  regression.machine = observed.series.machine;
  regression.good = good;
  regression.bad = *night.build;
  const double ratio = after / before;
  regression.series = {{observed.series.id, before, after, ratio, ratio, ratio}};
  regression.opened_at = regression.updated_at = context.clock.now();
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::add_regression(transaction, regression,
                            {RegressionState::suspected, context.clock.now(), why});
  });
}

void record_improvement(EngineContext& context, const Night& night, const Observation& observed) {
  const double larger = std::abs(std::log(observed.screen.level / observed.screen.reference));
  if (larger < std::log1p(observed.policy.threshold)) return;
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::add_improvement(
        transaction, {0, night.id, observed.series.id, *night.build, observed.screen.reference,
                      observed.screen.level, context.clock.now()});
  });
}

// The slow path. True if a creep was found and its regression opened.
bool open_creep(EngineContext& context, const Night& night, const Observation& observed) {
  std::vector<double> levels{observed.screen.level};
  for (const Level& level : observed.levels) levels.push_back(level.value);
  const auto found = bisect::creep(levels, observed.policy);
  if (!found) return false;
  const Level& reference = observed.levels.at(found->reference - 1);
  if (reference.build == *night.build) return false;
  suspect(context, night, observed, FoundBy::creep, reference.build, found->before, found->after,
          evidence::of_creep(*found, observed.tonight, levels, observed.policy));
  return true;
}

void judge(EngineContext& context, const Night& night, const Observation& observed) {
  if (observed.suspicious) return;
  if (observed.worse()) {
    suspect(context, night, observed, FoundBy::screening, observed.levels.front().build,
            observed.screen.reference, observed.screen.level,
            evidence::of_screening(observed.screen, observed.tonight, observed.level_values,
                                   observed.policy));
    return;
  }
  if (observed.better()) record_improvement(context, night, observed);
  if (!observed.better() && open_creep(context, night, observed)) return;
  accept_level(context, night, observed);
}

// Whether this night left the series without a verdict.
bool is_held(EngineContext& context, const Night& night, const Observation& observed,
             const std::vector<Regression>& regressions) {
  const auto levels =
      storage::levels_before(context.db, observed.series.id, NightId{night.id.value + 1}, 1);
  if (observed.suspicious) return false;
  const bool has_level = !levels.empty() && levels.front().night == night.id;
  return !has_level &&
         std::none_of(regressions.begin(), regressions.end(), [&](const Regression& r) {
           return r.series.front().series == observed.series.id;
         });
}

}  // namespace

std::string screen_night(EngineContext& context, const Night& night,
                         const std::vector<Job>& usable) {
  std::string held;
  for (const auto& [group, all] : observe(context, night, usable)) {
    const auto together = moved_together(all);
    std::size_t opened = 0;
    for (const Observation* observed : together)
      if (observed->worse() && opened < kSample) {
        judge(context, night, *observed);
        ++opened;
      }
    for (const Observation& observed : all)
      if (std::find(together.begin(), together.end(), &observed) == together.end())
        judge(context, night, observed);
    if (together.empty()) continue;
    held = std::to_string(together.size()) + " of " + std::to_string(all.size()) + " series of " +
           group.second + " on machine class " + std::to_string(group.first.value) +
           " moved together; the " + std::to_string(opened) + " clearest are looked into";
  }
  return held;
}

void release_held(EngineContext& context, const Night& night, const std::vector<Job>& usable) {
  const auto regressions = storage::regressions_of_night(context.db, night.id);
  for (const auto& [group, all] : observe(context, night, usable)) {
    const bool confirmed = std::any_of(all.begin(), all.end(), [&](const Observation& observed) {
      return std::any_of(regressions.begin(), regressions.end(), [&](const Regression& r) {
        return r.series.front().series == observed.series.id &&
               r.state != RegressionState::dismissed;
      });
    });
    const bool any_held = std::any_of(all.begin(), all.end(), [&](const Observation& observed) {
      return is_held(context, night, observed, regressions);
    });
    if (confirmed || !any_held) continue;
    storage::Mark mark;
    mark.at = context.clock.now();
    mark.actor = "nightjar";
    mark.after_night = NightId{night.id.value - 1};
    mark.machine = group.first;
    mark.metric = group.second;
    mark.reason =
        "most series moved together, and the builds do not differ side by side: the machine did";
    storage::write(context.db, [&](storage::Transaction& transaction) {
      storage::add_mark(transaction, mark);
    });
    for (const Observation& observed : all) accept_level(context, night, observed);
  }
}

}  // namespace nightjar::service
