#include "service/engine/screening.hpp"

#include <algorithm>

#include "bisect/detection.hpp"
#include "bisect/evidence/evidence.hpp"
#include "service/engine/policy.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

constexpr int kLevels = 14;  // nights that a level is held against

evidence::Values values_tonight(Desk& desk, const Series& series, const std::vector<Job>& usable) {
  evidence::Values tonight;
  for (const Job& job : usable)
    for (const SeriesRun& run : storage::runs_of_job(desk.db, series.id, job.id)) {
      tonight.values.push_back(run.value);
      tonight.runs.push_back(run.run);
    }
  return tonight;
}

void suspect(Desk& desk, const Night& night, const Series& series, const Level& good,
             const bisect::Screen& screen, const std::string& why) {
  Regression regression;
  regression.night = night.id;
  regression.machine = series.machine;
  regression.good = good.build;
  regression.bad = *night.build;
  const double ratio = screen.level / screen.reference;
  regression.series = {{series.id, screen.reference, screen.level, ratio, ratio, ratio}};
  regression.opened_at = regression.updated_at = desk.clock.now();
  storage::add_regression(desk.db, regression,
                          {RegressionState::suspected, desk.clock.now(), why});
}

void screen_series(Desk& desk, const Night& night, const Series& series,
                   const evidence::Values& tonight) {
  const std::vector<Level> levels = valid_levels(desk, series, night.id);
  std::vector<double> values;
  for (const Level& level : levels) values.push_back(level.value);
  const auto policy = policy_of(series, desk.config);
  const bisect::Screen screen = bisect::screen(values, tonight.values, policy);
  if (screen.verdict == bisect::Screen::Verdict::suspect_worse && levels.front().build != *night.build) {
    suspect(desk, night, series, levels.front(), screen,
            evidence::of_screening(screen, tonight, values, policy));
    return;
  }
  storage::set_level(desk.db, {series.id, *night.build, night.id, screen.level,
                               static_cast<int>(tonight.values.size())});
}

}  // namespace

std::vector<Level> valid_levels(Desk& desk, const Series& series, NightId night) {
  std::vector<Level> levels = storage::levels_before(desk.db, series.id, night, kLevels);
  storage::RegressionFilter filter;
  filter.metric = series.metric;
  filter.workload_glob = series.workload_name.str();
  for (const Regression& known : storage::list_regressions(desk.db, filter, {20, {}}).items) {
    const bool real = known.state != RegressionState::dismissed &&
                      known.state != RegressionState::suspected && known.night < night;
    const bool ours = std::any_of(known.series.begin(), known.series.end(),
                                  [&](const AffectedSeries& s) { return s.series == series.id; });
    if (!real || !ours) continue;
    std::erase_if(levels, [&](const Level& level) { return level.night < known.night; });
  }
  return levels;
}

void screen_night(Desk& desk, const Night& night, const std::vector<Job>& usable) {
  for (const Series& series : storage::series_of_night(desk.db, night.id)) {
    if (!is_judged(series, desk.config)) continue;
    const evidence::Values tonight = values_tonight(desk, series, usable);
    if (!tonight.values.empty()) screen_series(desk, night, series, tonight);
  }
}

}  // namespace nightjar::service
