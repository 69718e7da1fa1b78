#include "service/engine/screening.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "bisect/detection.hpp"
#include "bisect/evidence/evidence.hpp"
#include "service/engine/levels.hpp"
#include "service/engine/policy.hpp"
#include "storage/marks.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

constexpr int kLevels = 14;         // nights that a level is held against
constexpr int kCreepLevels = 40;    // and those in which a creep is looked for
constexpr std::size_t kTogether = 8;  // series of one machine class, of ...
constexpr std::size_t kModels = 4;    // ... unrelated models, that moved ...
constexpr double kMost = .5;          // ... as this share of all: the machine, or a cause of them all
constexpr std::size_t kSample = 3;    // of these are looked into, the clearest

// One series' night.
struct Seen {
  Series series;
  bisect::DetectionPolicy policy;
  evidence::Values tonight;
  std::vector<Level> levels;  // newest first
  std::vector<double> level_values;
  bisect::Screen screen;

  bool worse() const { return screen.verdict == bisect::Screen::Verdict::suspect_worse; }
  bool better() const { return screen.verdict == bisect::Screen::Verdict::suspect_better; }
};

evidence::Values values_tonight(Desk& desk, const Series& series, const std::vector<Job>& usable) {
  evidence::Values tonight;
  for (const Job& job : usable)
    for (const SeriesRun& run : storage::runs_of_job(desk.db, series.id, job.id)) {
      tonight.values.push_back(run.value);
      tonight.runs.push_back(run.run);
    }
  return tonight;
}

// What can move together: one metric on one machine class.
using Group = std::pair<MachineId, std::string>;

std::map<Group, std::vector<Seen>> look(Desk& desk, const Night& night,
                                            const std::vector<Job>& usable) {
  std::map<Group, std::vector<Seen>> all;
  for (const Series& series : storage::series_of_night(desk.db, night.id)) {
    if (!is_judged(series, desk.config)) continue;
    Seen seen{series, learned_policy(desk, series), values_tonight(desk, series, usable), {}, {}, {}};
    if (seen.tonight.values.empty()) continue;
    seen.levels = valid_levels(desk, series, night.id, kCreepLevels);
    for (const Level& level : seen.levels) seen.level_values.push_back(level.value);
    if (seen.level_values.size() > kLevels) seen.level_values.resize(kLevels);
    seen.screen = bisect::screen(seen.level_values, seen.tonight.values, seen.policy);
    if (!seen.levels.empty() && seen.levels.front().build == *night.build && seen.worse())
      seen.screen.verdict = bisect::Screen::Verdict::same;  // the same build again cannot be worse
    all[{series.machine, series.metric}].push_back(std::move(seen));
  }
  return all;
}

void accept(Desk& desk, const Night& night, const Seen& seen) {
  storage::set_level(desk.db, {seen.series.id, *night.build, night.id, seen.screen.level,
                               static_cast<int>(seen.tonight.values.size())});
}

void suspect(Desk& desk, const Night& night, const Seen& seen, BuildId good, double before,
             double after, const std::string& why) {
  Regression regression;
  regression.night = night.id;
  regression.machine = seen.series.machine;
  regression.good = good;
  regression.bad = *night.build;
  const double ratio = after / before;
  regression.series = {{seen.series.id, before, after, ratio, ratio, ratio}};
  regression.opened_at = regression.updated_at = desk.clock.now();
  storage::add_regression(desk.db, regression, {RegressionState::suspected, desk.clock.now(), why});
}

void record_improvement(Desk& desk, const Night& night, const Seen& seen) {
  const double larger = std::abs(std::log(seen.screen.level / seen.screen.reference));
  if (larger < std::log1p(seen.policy.threshold)) return;
  storage::add_improvement(desk.db, {0, night.id, seen.series.id, *night.build, seen.screen.reference,
                                     seen.screen.level, desk.clock.now()});
}

// The slow path. True if a creep was found and its regression opened.
bool open_creep(Desk& desk, const Night& night, const Seen& seen) {
  std::vector<double> levels{seen.screen.level};
  for (const Level& level : seen.levels) levels.push_back(level.value);
  const auto found = bisect::creep(levels, seen.policy);
  if (!found) return false;
  const Level& reference = seen.levels.at(found->reference - 1);
  if (reference.build == *night.build) return false;
  suspect(desk, night, seen, reference.build, found->before, found->after,
          evidence::of_creep(*found, seen.tonight, levels, seen.policy));
  return true;
}

void judge(Desk& desk, const Night& night, const Seen& seen) {
  if (seen.worse()) {
    suspect(desk, night, seen, seen.levels.front().build, seen.screen.reference, seen.screen.level,
            evidence::of_screening(seen.screen, seen.tonight, seen.level_values, seen.policy));
    return;
  }
  if (seen.better()) record_improvement(desk, night, seen);
  if (!seen.better() && open_creep(desk, night, seen)) return;
  accept(desk, night, seen);
}

// Those that moved, if most of a group did.
std::vector<const Seen*> moved_together(const std::vector<Seen>& all) {
  std::vector<const Seen*> moved;
  std::set<std::string> models;
  for (const Seen& seen : all) {
    if (!seen.worse() && !seen.better()) continue;
    moved.push_back(&seen);
    models.emplace(seen.series.workload_name.model());
  }
  const bool most = static_cast<double>(moved.size()) >= kMost * static_cast<double>(all.size());
  if (moved.size() < kTogether || models.size() < kModels || !most) return {};
  std::stable_sort(moved.begin(), moved.end(), [](const Seen* a, const Seen* b) {
    return std::abs(a->screen.z) > std::abs(b->screen.z);
  });
  return moved;
}

// Whether this night left the series without a verdict.
bool is_held(Desk& desk, const Night& night, const Seen& seen,
             const std::vector<Regression>& regressions) {
  const auto levels = storage::levels_before(desk.db, seen.series.id, NightId{night.id.value + 1}, 1);
  const bool has_level = !levels.empty() && levels.front().night == night.id;
  return !has_level && std::none_of(regressions.begin(), regressions.end(), [&](const Regression& r) {
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
      if (std::find(together.begin(), together.end(), &seen) == together.end()) judge(desk, night, seen);
    if (together.empty()) continue;
    held = std::to_string(together.size()) + " of " + std::to_string(all.size()) +
           " series of " + group.second + " on machine class " + std::to_string(group.first.value) +
           " moved together; the " +
           std::to_string(opened) + " clearest are looked into";
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
    mark.reason = "most series moved together, and the builds do not differ side by side: the machine did";
    storage::add_mark(desk.db, mark);
    for (const Seen& seen : all) accept(desk, night, seen);
  }
}

}  // namespace nightjar::service
