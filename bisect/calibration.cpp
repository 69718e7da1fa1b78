#include "bisect/calibration.hpp"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <cmath>
#include <stdexcept>

namespace nightjar::bisect {
namespace {

constexpr double kPower = 1.2816;    // normal quantile of .9
constexpr double kRobustLoss = 1.1;  // variance of a robust location against a mean's
constexpr double kMostRuns = 120;    // a side, the last rung
constexpr double kTrailingNights = 14;

}  // namespace

Interval binomial_interval(int hits, int cases, double confidence) {
  if (hits < 0 || hits > cases)
    throw std::invalid_argument("hits must lie between 0 and the cases");
  const double tail = (1 - confidence) / 2, k = hits, n = cases;
  Interval out{0, 1};
  if (hits > 0)
    out.low = boost::math::quantile(boost::math::beta_distribution<>(k, n - k + 1), tail);
  if (hits < cases)
    out.high = boost::math::quantile(boost::math::beta_distribution<>(k + 1, n - k), 1 - tail);
  return out;
}

double smallest_seen(double sd, int runs, const DetectionPolicy& policy) {
  const double night = kRobustLoss * sd * sd / std::max(runs, 1);
  const double screen = std::sqrt(night * (1 + 1 / kTrailingNights));
  const double confirmed = std::sqrt(2 * kRobustLoss * sd * sd / kMostRuns);
  const double first = std::max(std::log1p(policy.screen_change), policy.screen_z * screen);
  return std::expm1(
      std::max(first + kPower * screen, std::log1p(policy.threshold) + kPower * confirmed));
}

}  // namespace nightjar::bisect
