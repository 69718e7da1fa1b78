#include "bisect/calibration.hpp"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <stdexcept>

#include "bisect/ladder.hpp"
#include "storage/base/foreign_number.hpp"

namespace nightjar::bisect {
namespace {

constexpr double z_of_power = 1.2816;  // normal quantile of .9
constexpr double location_loss = 1.1;  // variance of a robust location against a mean's
constexpr std::size_t most_levels = 14;

// What the screen suspects with probability .9, by the error that screen() counts with.
double log_suspected(const Scatter& scatter, const DetectionPolicy& policy) {
  const double within =
      location_loss * scatter.runs_sd * scatter.runs_sd / std::max(scatter.runs, 1);
  const double night = std::max(within, scatter.nights_sd * scatter.nights_sd);
  const double error = std::sqrt(night * (1 + 1. / most_levels));
  const double first = std::max(std::log1p(policy.screen_change), policy.screen_z * error);
  return first + z_of_power * error;
}

}  // namespace

Interval binomial_interval(std::int64_t hits, std::int64_t cases, double confidence) {
  if (hits < 0 || hits > cases)
    throw std::invalid_argument("hits must lie between 0 and the cases");
  const double tail = (1 - confidence) / 2;
  const auto k = static_cast<double>(hits), n = static_cast<double>(cases);
  Interval out{0, 1};
  if (hits > 0)
    out.low = boost::math::quantile(boost::math::beta_distribution<>(k, n - k + 1), tail);
  if (hits < cases)
    out.high = boost::math::quantile(boost::math::beta_distribution<>(k + 1, n - k), 1 - tail);
  return out;
}

double nights_sd(std::span<const double> levels, const DetectionPolicy& policy) {
  constexpr std::size_t enough = 3;
  if (levels.size() < enough) return 0;
  std::vector<double> logs;
  for (const double level : levels.first(std::min(levels.size(), most_levels)))
    logs.push_back(std::log(judged_value(level, policy)));
  return robust_sd(logs);
}

double smallest_seen(const Scatter& scatter, const DetectionPolicy& policy) {
  const double most_runs = ladder(policy.repeatability).back();  // a side
  const double confirmed = std::sqrt(2 * location_loss / most_runs) * scatter.runs_sd;
  return std::expm1(std::max(log_suspected(scatter, policy),
                             std::log1p(policy.threshold) + z_of_power * confirmed));
}

DetectionPolicy with_smallest_shown(DetectionPolicy policy, const Scatter& scatter) {
  const double suspected = std::expm1(log_suspected(scatter, policy));
  policy.smallest_shown = suspected > policy.threshold ? suspected : 0;
  return policy;
}

bool cannot_show(double smallest, double threshold) {
  constexpr double still_shown = 1.25;
  return smallest > still_shown * threshold;
}

Typical typical(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("there is no value");
  std::sort(values.begin(), values.end());
  const auto n = values.size();
  const boost::math::binomial_distribution<> below(static_cast<double>(n), .5);
  const auto left_out = clamped_integer<std::size_t>(boost::math::quantile(below, .025), 0, n - 1);
  return {static_cast<int>(n), median(values), values[left_out], values[n - 1 - left_out]};
}

}  // namespace nightjar::bisect
