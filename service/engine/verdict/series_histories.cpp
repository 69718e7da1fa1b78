#include "service/engine/verdict/series_histories.hpp"

#include <algorithm>

#include "service/engine/verdict/levels.hpp"
#include "storage/many_series.hpp"

namespace nightjar::service {
namespace {

// Since when a series is better, of the improvements that `from` or a later night showed; 0: none
// did.
NightId last_of(const std::vector<storage::BetterSince>& improvements, NightId from) {
  NightId last;
  for (const storage::BetterSince& one : improvements)
    if (one.shown >= from) last = std::max(last, one.night);
  return last;
}

}  // namespace

std::map<SeriesId, SeriesHistory> load_histories(const EngineView& view,
                                                 const std::vector<Series>& series, NightId night,
                                                 int limit) {
  std::vector<SeriesId> ids;
  for (const Series& one : series) ids.push_back(one.id);
  auto levels = storage::newest_levels(view.db, ids, night, limit);
  auto newest = storage::newest_levels(view.db, ids, NightId{night.value + 1}, 1);
  const auto real = states_where([](const LifecycleRow& row) { return row.is_real; });
  auto regressed = storage::last_regressions(view.db, real, night);
  auto better = storage::better_since(view.db, ids, night);
  auto marked = storage::last_marked(view.db, series);
  std::map<SeriesId, SeriesHistory> all;
  for (const Series& one : series) {
    SeriesHistory& history = all[one.id];
    if (!newest[one.id].empty()) history.newest = newest[one.id].front();
    history.levels = std::move(levels[one.id]);
    if (history.levels.empty()) continue;
    const NightId from =
        std::max(regressed[one.id], last_of(better[one.id], history.levels.back().night));
    std::erase_if(history.levels, [&](const Level& level) {
      return level.night < from || level.night <= marked[one.id];
    });
  }
  return all;
}

std::map<SeriesId, bisect::SeriesNoise> load_noise(const EngineView& view,
                                                   const std::vector<Series>& series) {
  std::vector<SeriesId> ids;
  for (const Series& one : series) ids.push_back(one.id);
  auto values = storage::newest_values(view.db, ids, noise_builds);
  std::map<SeriesId, bisect::SeriesNoise> all;
  for (const Series& one : series) all[one.id] = noise_of(one, std::move(values[one.id]));
  return all;
}

}  // namespace nightjar::service
