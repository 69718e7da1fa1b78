#include "service/engine/policy.hpp"

#include <algorithm>

#include "storage/model/metric.hpp"
#include "storage/model/workload.hpp"

namespace nightjar::service {

bisect::DetectionPolicy policy_of(const Series& series, const Config& config) {
  bisect::DetectionPolicy policy = config.detection;
  if (const Metric* metric = find_metric(series.metric)) {
    policy.direction = metric->direction;
    policy.repeatability = metric->repeatability;
  }
  for (const ThresholdConfig& rule : config.thresholds) {
    if ((rule.metric == "*" || rule.metric == series.metric) &&
        glob_match(rule.workload, series.workload_name.str()))
      policy.threshold = rule.threshold;
  }
  return policy;
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
