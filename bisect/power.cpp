#include "bisect/power.hpp"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <stdexcept>

namespace nightjar::bisect {

double smallest_seen(const Ratio& seen, int runs_before, int runs_after, double confidence,
                     double power) {
  if (runs_before < 2 || runs_after < 2) throw std::invalid_argument("power needs two runs a side");
  const double degrees = runs_before + runs_after - 2;
  const double t = boost::math::quantile(boost::math::students_t(degrees), (1 + confidence) / 2);
  const double z = boost::math::quantile(boost::math::normal(), power);
  const double half_width = std::log(seen.high / seen.low) / 2;
  // In standard errors, a change k is detected if k + error > t. Both sides scale with estimates of
  // the noise, each of relative variance 1 / (2 degrees). So k solves
  // (k - t)^2 = z^2 (1 + (t^2 + k^2) / (2 degrees)).
  const double a = z * z / (2 * degrees);
  const double k = (t + std::sqrt(t * t - (1 - a) * (t * t * (1 - a) - z * z))) / (1 - a);
  return std::exp(half_width / t * k);
}

}  // namespace nightjar::bisect
