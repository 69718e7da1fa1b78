#include "service/engine/verdict/levels.hpp"

#include "service/engine/policy.hpp"
#include "storage/model/metric.hpp"
#include "storage/series.hpp"

namespace nightjar::service {

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
  return noise_of(series, runs_by_build(db, series.id, noise_builds));
}

bisect::SeriesNoise noise_of(const Series& series, std::vector<std::vector<double>> builds) {
  const auto policy = bisect::policy_of_metric(series.metric);
  if (!bisect::is_judged(policy)) return bisect::series_noise({});  // may be 0, or below it
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
