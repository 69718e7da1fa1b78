#include "bisect/search/model.hpp"

#include <algorithm>
#include <cmath>

namespace nightjar::bisect::search {
namespace {

constexpr double p_nothing = .30;  // no step that matters
constexpr double p_small = .20;    // of p_nothing: a small step
constexpr double p_better = .02;   // of p_nothing: an improvement
constexpr double p_further = .15;  // a further step, once there is one
constexpr double p_odd = 5e-4;     // of one wheel, once it is measured
constexpr double flat_share = .3;  // of the prior of further steps: the same for all gaps
constexpr double small_sd = .012;
constexpr double claimed_share = .25;  // sd of a claimed step, relative
constexpr double first_mean = .10, further_mean = .06, step_sd = .12;

}  // namespace

double upper_tail(double z) {
  return .5 * std::erfc(z / std::sqrt(2.0));
}

StepPrior step_prior(const Hypothesis& hypothesis, const Data& data) {
  // The prior must not pull down a change of several hundred per cent, which is plain at once.
  const double sd = std::max(step_sd, .5 * std::abs(data.end_change));
  switch (hypothesis.kind) {
    case Kind::small:
      return {0, small_sd, false, false};
    case Kind::better:
      return {-first_mean, sd, false, true};
    case Kind::steps:
      if (data.claimed > 0) return {data.claimed, claimed_share * data.claimed, true, false};
      if (hypothesis.count == 1) return {first_mean, sd, true, false};
      return {further_mean, sd, true, true};
    case Kind::nothing:
      break;
  }
  return {};
}

namespace {

double log_prior_of_steps(const Hypothesis& hypothesis, const Data& data) {
  auto mass = [&](int gap) { return std::max(data.mass[static_cast<std::size_t>(gap)], 1e-12); };
  switch (hypothesis.kind) {
    case Kind::nothing:
      return std::log(p_nothing * (1 - p_small - p_better));
    case Kind::small:
      return std::log(p_nothing * p_small * mass(hypothesis.gaps[0]));
    case Kind::better:
      return std::log(p_nothing * p_better * mass(hypothesis.gaps[0]));
    case Kind::steps:
      break;
  }
  double log = std::log((1 - p_nothing) * (1 - p_further));
  if (hypothesis.count == 1) return log + std::log(mass(hypothesis.gaps[0]));
  for (int k = 0; k < hypothesis.count; ++k) {
    const double gap = mass(hypothesis.gaps[static_cast<std::size_t>(k)]);
    log += std::log((1 - flat_share) * gap + flat_share / data.gaps());
    log += std::log(k + 1.0);
    if (k > 0) log += std::log(p_further);
  }
  return log;
}

}  // namespace

double log_prior(const Hypothesis& hypothesis, const Data& data) {
  return log_prior_of_steps(hypothesis, data) + (hypothesis.odd < 0 ? 0 : std::log(p_odd));
}

double log_allowed(const StepPrior& prior, double mean, double sd) {
  if (!prior.upward && !prior.downward) return 0;
  double share = 0;
  if (prior.upward) share += upper_tail((least_step - mean) / sd);
  if (prior.downward) share += upper_tail((least_step + mean) / sd);
  return std::log(std::max(share, 1e-30));
}

}  // namespace nightjar::bisect::search
