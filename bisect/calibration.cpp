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
constexpr double trailing_nights = 14;

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

double smallest_seen(double sd, int runs, const DetectionPolicy& policy) {
  const double night = location_loss * sd * sd / std::max(runs, 1);
  const double screen = std::sqrt(night * (1 + 1 / trailing_nights));
  const double most_runs = ladder(policy.repeatability).back();  // a side
  const double confirmed = std::sqrt(2 * location_loss * sd * sd / most_runs);
  const double first = std::max(std::log1p(policy.screen_change), policy.screen_z * screen);
  return std::expm1(
      std::max(first + z_of_power * screen, std::log1p(policy.threshold) + z_of_power * confirmed));
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
