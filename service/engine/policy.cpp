#include "service/engine/policy.hpp"

#include <algorithm>

#include "storage/builds.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/workload.hpp"

namespace nightjar::service {

bisect::DetectionPolicy policy_of(const Series& series, const Config& config) {
  const auto of_metric = bisect::policy_of_metric(series.metric);
  bisect::DetectionPolicy policy = config.detection;
  policy.direction = of_metric.direction;
  policy.repeatability = of_metric.repeatability;
  policy.least_change = of_metric.least_change;
  const Metric* metric = find_metric(series.metric);
  if (metric && metric->threshold > 0) policy.threshold = metric->threshold;
  for (const ThresholdConfig& rule : config.thresholds) {
    if ((rule.metric != "*" && rule.metric != series.metric) ||
        !glob_match(rule.workload, series.workload_name.str()))
      continue;
    policy.threshold = rule.threshold.value_or(policy.threshold);
    policy.least_change = rule.floor.value_or(policy.least_change);
  }
  // A small threshold needs a finer screen and a narrower interval than the configured ones.
  policy.screen_change = std::min(policy.screen_change, policy.threshold / 2);
  policy.interval_points = std::min(policy.interval_points, policy.threshold);
  return policy;
}

double threshold_of(std::string_view metric, const Config& config) {
  const Metric* known = find_metric(metric);
  double threshold = known && known->threshold > 0 ? known->threshold : config.detection.threshold;
  for (const ThresholdConfig& rule : config.thresholds)
    if ((rule.metric == "*" || rule.metric == metric) &&
        (rule.workload == "*" || rule.workload == "**"))
      threshold = rule.threshold.value_or(threshold);
  return threshold;
}

std::string variant_of(const EngineView& view, BuildId build) {
  const auto row = storage::find_build(view.db, build);
  return row ? row->variant : view.config.source.variant;
}

RegressionState unnamed_state(const Config& config) {
  return config.report.unattributed == UnattributedReports::none ? RegressionState::inconclusive
                                                                 : RegressionState::unattributed;
}

bool is_judged(const Series& series, const Config& config) {
  const auto& metrics = config.night.metrics;
  return std::find(metrics.begin(), metrics.end(), series.metric) != metrics.end();
}

}  // namespace nightjar::service
