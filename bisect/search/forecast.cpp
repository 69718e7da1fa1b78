// Forecasts how many runs are still needed. Reproducing the change, each bit of its location,
// confirming it, and finding none each cost runs that are linear in (sd of a run / step)^2. The
// coefficients fit the simulations of tests/bench/verdicts_bench.cpp at CV 1 to 10 %.
// Refused: bits left over bits a run, which forecast up to seven times too many at the ends.
#include <algorithm>
#include <cmath>

#include "bisect/search/decide.hpp"

namespace nightjar::bisect::search {
namespace {

constexpr double fewest = 2;

// The bits missing on where the steps are, given that there are some.
double bits_left(const Posterior& posterior, double stepped) {
  double bits = 0;
  for (std::size_t i = 0; i < posterior.fits.size(); ++i) {
    const Hypothesis& h = posterior.fits[i].hypothesis;
    if (h.kind != Kind::steps) continue;
    const double share = posterior.share[i] / stepped;
    if (share > 0) bits -= share * std::log2(share);
    for (std::size_t k = 0; k < static_cast<std::size_t>(h.count); ++k) {
      const auto gap = static_cast<std::size_t>(h.gaps[k]);
      const int width = posterior.data.commits[gap + 1] - posterior.data.commits[gap];
      bits += share * std::log2(static_cast<double>(width));
    }
  }
  return bits;
}

// The runs that each part of a search takes. `unit`: variance of a run over the square of the step.
double to_reproduce(double unit) {
  return 10 + 33 * unit;
}
double for_a_bit(double unit) {
  return 1.8 + 18 * unit;
}
double to_confirm(double unit) {
  return 6 + 23 * unit;
}

double size_of(const Posterior& posterior, const Claim& claim) {
  const Fit& best = posterior.fits[static_cast<std::size_t>(claim.fit)];
  double size = 0;
  for (int k = 0; k < best.hypothesis.count; ++k) size = std::max(size, std::abs(best.step(k)));
  for (int k = 0; k < best.hypothesis.count; ++k) {
    if (best.worse[static_cast<std::size_t>(k)] > .5) size = std::min(size, best.step(k));
  }
  return std::max(size, least_step);
}

}  // namespace

double usual_runs(const Posterior& posterior, const Claim& claim) {
  const double size = std::min(size_of(posterior, claim), threshold_step);
  const double unit = posterior.noise.run / (size * size);
  const double bits = std::log2(static_cast<double>(posterior.data.commits.back()) + 1);
  const double a_step = bits * for_a_bit(unit) + to_confirm(unit);
  return to_reproduce(unit) + static_cast<double>(claim.gaps.size()) * a_step;
}

double expected_rest(const Posterior& posterior, const Claim& claim, int confirming) {
  const Data& data = posterior.data;
  const double idle = posterior.nothing + posterior.too_small, stepped = 1 - idle;
  const double nobody =
      10 + 123 * posterior.noise.run / (threshold_step * threshold_step) - data.runs();
  double rest = idle * std::max(nobody, fewest);
  if (claim.fit < 0 || stepped <= 0) return rest;
  const double size = size_of(posterior, claim), unit = posterior.noise.run / (size * size);
  double search = bits_left(posterior, stepped) * for_a_bit(unit);
  const double unconfirmed = static_cast<double>(std::max<std::size_t>(claim.gaps.size(), 1));
  search += confirming > 0 ? confirming : to_confirm(unit) * unconfirmed;
  if (data.commits.size() == 2) search += std::max(to_reproduce(unit) - data.runs(), 0.0);
  return rest + stepped * std::max(search, fewest);
}

}  // namespace nightjar::bisect::search
