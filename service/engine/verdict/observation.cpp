#include "service/engine/verdict/observation.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "service/engine/policy.hpp"
#include "service/engine/verdict/confirmations.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

constexpr std::size_t kLevels = 14;  // nights that a level is held against
constexpr int kCreepLevels = 40;     // and those in which a creep is looked for
constexpr std::size_t kTogether = 8, kModels = 4;
constexpr double kMost = .5;  // share of the group

evidence::Values values_tonight(const EngineView& view, const Series& series,
                                const std::vector<Job>& usable) {
  evidence::Values tonight;
  for (const Job& job : usable)
    for (const SeriesRun& run : storage::runs_of_job(view.db, series.id, job.id)) {
      tonight.values.push_back(run.value);
      tonight.runs.push_back(run.run);
    }
  return tonight;
}

}  // namespace

Observations observe(const EngineView& view, const Night& night, const std::vector<Job>& usable) {
  Observations all;
  const std::set<SeriesId> suspicious = series_under_suspicion(view.db);
  for (const Series& series : storage::series_of_night(view.db, night.id)) {
    if (!is_judged(series, view.config)) continue;
    Observation observed{
        series, learned_policy(view, series), values_tonight(view, series, usable), {}, {}, {}};
    if (observed.tonight.values.empty()) continue;
    observed.suspicious = suspicious.count(series.id) != 0;
    const auto newest = storage::levels_before(view.db, series.id, NightId{night.id.value + 1}, 1);
    observed.has_level = !newest.empty() && newest.front().night == night.id;
    observed.levels = valid_levels(view, series, night.id, kCreepLevels);
    for (const Level& level : observed.levels) observed.level_values.push_back(level.value);
    if (observed.level_values.size() > kLevels) observed.level_values.resize(kLevels);
    observed.screen =
        bisect::screen(observed.level_values, observed.tonight.values, observed.policy);
    if (!observed.levels.empty() && observed.levels.front().build == *night.build &&
        observed.worse())
      observed.screen.verdict =
          bisect::Screen::Verdict::same;  // the same build again cannot be worse
    all[{series.machine, series.metric}].push_back(std::move(observed));
  }
  return all;
}

std::optional<Level> level_of(const Night& night, const Observation& observed) {
  if (observed.suspicious) return std::nullopt;
  return Level{observed.series.id, *night.build, night.id, observed.screen.level,
               static_cast<int>(observed.tonight.values.size())};
}

std::vector<const Observation*> moved_together(const std::vector<Observation>& all) {
  std::vector<const Observation*> moved;
  std::set<std::string> models;
  for (const Observation& observed : all) {
    if (!observed.worse() && !observed.better()) continue;
    moved.push_back(&observed);
    models.emplace(observed.series.workload_name.model());
  }
  const bool most = static_cast<double>(moved.size()) >= kMost * static_cast<double>(all.size());
  if (moved.size() < kTogether || models.size() < kModels || !most) return {};
  std::stable_sort(moved.begin(), moved.end(), [](const Observation* a, const Observation* b) {
    return std::abs(a->screen.z) > std::abs(b->screen.z);
  });
  return moved;
}

}  // namespace nightjar::service
