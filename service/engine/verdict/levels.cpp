#include "service/engine/verdict/levels.hpp"

#include <algorithm>

#include "service/engine/policy.hpp"
#include "storage/marks.hpp"
#include "storage/model/metric.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

constexpr int kBuilds = 14;  // that noise is learned from

// The newest night before `night` in which this series got worse for good; 0: none.
NightId last_regression(const EngineView& view, const Series& series, NightId night) {
  storage::RegressionFilter filter;
  filter.metric = series.metric;
  filter.workload_glob = series.workload_name.str();
  NightId last;
  for (const Regression& known : storage::list_regressions(view.db, filter, {20, {}}).items) {
    const bool ours = std::any_of(known.series.begin(), known.series.end(),
                                  [&](const AffectedSeries& s) { return s.series == series.id; });
    if (is_real(known) && ours && known.night < night) last = std::max(last, known.night);
  }
  return last;
}

}  // namespace

bool is_real(const Regression& known) {
  using enum RegressionState;
  return known.state != dismissed && known.state != suspected && known.state != unconfirmed;
}

std::vector<Level> valid_levels(const EngineView& view, const Series& series, NightId night,
                                int limit) {
  std::vector<Level> levels = storage::levels_before(view.db, series.id, night, limit);
  const NightId regressed = last_regression(view, series, night);
  const NightId marked = storage::marked_until(view.db, series);
  const NightId improved =
      levels.empty() ? NightId{}
                     : storage::last_improvement(view.db, series.id, levels.back().night, night);
  std::erase_if(levels, [&](const Level& level) {
    return level.night < regressed || level.night < improved || level.night <= marked;
  });
  return levels;
}

double worsening(const Series& series, double before, double level) {
  const auto policy = bisect::policy_of_metric(series.metric);
  return bisect::cost_of(level, policy) / bisect::cost_of(before, policy);
}

double ratio_of(const Series& series, double before, double level) {
  const auto policy = bisect::policy_of_metric(series.metric);
  return bisect::judged_value(level, policy) / bisect::judged_value(before, policy);
}

std::vector<std::vector<double>> runs_by_build(const storage::Database& db, SeriesId series,
                                               int limit) {
  std::vector<std::vector<double>> builds;
  for (auto& point : storage::points_of_series(db, series, limit))
    builds.push_back(std::move(point.values));
  return builds;
}

bisect::SeriesNoise noise_of(const storage::Database& db, const Series& series) {
  auto builds = runs_by_build(db, series.id, kBuilds);
  const auto policy = bisect::policy_of_metric(series.metric);
  for (std::vector<double>& runs : builds)
    for (double& value : runs) value = bisect::judged_value(value, policy);
  return bisect::series_noise(builds);
}

bisect::DetectionPolicy learned_policy(const EngineView& view, const Series& series) {
  return bisect::adapted(policy_of(series, view.config), noise_of(view.db, series));
}

double search_threshold(const EngineView& view, const Series& series) {
  const double own = learned_policy(view, series).threshold;
  return own == view.config.detection.threshold ? view.config.search.threshold : own;
}

}  // namespace nightjar::service
