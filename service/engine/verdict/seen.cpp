#include "service/engine/verdict/seen.hpp"

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

evidence::Values values_tonight(Desk& desk, const Series& series, const std::vector<Job>& usable) {
  evidence::Values tonight;
  for (const Job& job : usable)
    for (const SeriesRun& run : storage::runs_of_job(desk.db, series.id, job.id)) {
      tonight.values.push_back(run.value);
      tonight.runs.push_back(run.run);
    }
  return tonight;
}

}  // namespace

std::map<Group, std::vector<Seen>> look(Desk& desk, const Night& night,
                                        const std::vector<Job>& usable) {
  std::map<Group, std::vector<Seen>> all;
  const std::set<SeriesId> suspicious = series_under_suspicion(desk.db);
  for (const Series& series : storage::series_of_night(desk.db, night.id)) {
    if (!is_judged(series, desk.config)) continue;
    Seen seen{
        series, learned_policy(desk, series), values_tonight(desk, series, usable), {}, {}, {},
        false};
    if (seen.tonight.values.empty()) continue;
    seen.suspicious = suspicious.count(series.id) != 0;
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

void accept_level(Desk& desk, const Night& night, const Seen& seen) {
  if (seen.suspicious) return;
  storage::write(desk.db, [&](storage::Transaction& transaction) {
    storage::set_level(transaction, {seen.series.id, *night.build, night.id, seen.screen.level,
                                     static_cast<int>(seen.tonight.values.size())});
  });
}

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

}  // namespace nightjar::service
