#include "bisect/calibration.hpp"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <cmath>
#include <stdexcept>

namespace nightjar::bisect {
namespace {

constexpr double z_of_power = 1.2816;     // normal quantile of .9
constexpr double location_loss = 1.1;     // variance of a robust location against a mean's
constexpr double most_runs_a_side = 120;  // a side, the last rung
constexpr double trailing_nights = 14;

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
  const double night = location_loss * sd * sd / std::max(runs, 1);
  const double screen = std::sqrt(night * (1 + 1 / trailing_nights));
  const double confirmed = std::sqrt(2 * location_loss * sd * sd / most_runs_a_side);
  const double first = std::max(std::log1p(policy.screen_change), policy.screen_z * screen);
  return std::expm1(
      std::max(first + z_of_power * screen, std::log1p(policy.threshold) + z_of_power * confirmed));
}

}  // namespace nightjar::bisect
