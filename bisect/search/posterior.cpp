// From the log to probabilities. The noise is estimated under the leading hypothesis. Then each
// hypothesis that may matter is fitted by Laplace's approximation.
#include "bisect/search/posterior.hpp"

#include <algorithm>
#include <limits>

#include "bisect/search/wheels.hpp"

namespace nightjar::bisect::search {
namespace {

constexpr int most_rounds = 12;
constexpr double converged = .004;  // relative change of the runs' variance
constexpr double margin = 9;        // nats below the best that are still fitted
constexpr std::size_t most_fits = 48;
constexpr std::size_t single_sets = 2;
// Prior of the layouts' sd where a step is compared with the threshold. It is log-normal; its
// median is the usual sd, or a share of the runs' own sd if that is smaller. It is cut off at
// `narrowest_layout` and `widest_layout` sd of the log, but not below the estimate.
constexpr double layout_share = .25, layout_spread = .6;
constexpr int narrowest_layout = -2, widest_layout = 3;
constexpr double averaged_share = 1e-4;  // a less likely hypothesis uses the estimate alone

Noise first_noise(const Data& data) {
  Noise noise;
  noise.run = data.first_sd * data.first_sd;
  noise.wheel = usual_wheel * usual_wheel * data.stretch * data.stretch;
  noise.origin = usual_origin * usual_origin * data.stretch * data.stretch;
  return noise;
}

struct NoiseEstimate {
  Noise noise;
  Labels labels;  // of the leading hypothesis
};

NoiseEstimate estimate_noise(const Data& data) {
  NoiseEstimate out{first_noise(data), data.outlying};
  std::vector<Labels> labels{data.outlying};
  for (int round = 0; round < most_rounds; ++round) {
    const Noise used = cautious(out.noise, data);
    const Screened leader = screen_hypotheses(data, used, labels).front();
    const Fit led = fit(leader.hypothesis, data, used, labels[leader.labels]);
    const Noise next = updated_noise(led, data, used);
    const bool done = std::abs(next.run - out.noise.run) < converged * out.noise.run &&
                      std::abs(next.session - out.noise.session) < converged * out.noise.session;
    out = {next, led.outlying};
    labels = {data.outlying, led.outlying};
    if (done) break;
  }
  return out;
}

// The label sets to try: the first guess, and those of the leading hypotheses.
std::vector<Labels> label_sets(const Data& data, const Noise& noise, Labels leading) {
  std::vector<Labels> sets{data.outlying, std::move(leading)};
  std::vector<Fit> singles{fit({}, data, noise, data.outlying)};
  for (int gap = 0; gap < data.gaps(); ++gap) {
    singles.push_back(fit({Kind::steps, 1, {gap}}, data, noise, data.outlying));
  }
  std::stable_sort(singles.begin(), singles.end(),
                   [](const Fit& a, const Fit& b) { return a.log_posterior > b.log_posterior; });
  for (std::size_t i = 0; i < std::min(singles.size(), single_sets); ++i) {
    sets.push_back(std::move(singles[i].outlying));
  }
  return sets;
}

// Sets P(a step is at least the threshold), averaged over the layouts' sd. A few builds say little
// about that sd, so that its estimate stays near the prior. Using the estimate alone dropped true
// steps where layouts scatter more, and named small ones where they scatter less.
void average_over_layouts(Fit& one, const Data& data, const Noise& noise) {
  const double median = std::min(usual_layout, layout_share * std::sqrt(noise.run));
  std::vector<Fit> fits;
  double best = -std::numeric_limits<double>::infinity();
  Noise other = noise;
  other.layout = 0;
  for (int z = narrowest_layout; z <= widest_layout || other.layout < noise.layout; ++z) {
    other.layout = std::pow(median * std::exp(layout_spread * z), 2);
    fits.push_back(fit(one.hypothesis, data, other, one.outlying, 1));
    fits.back().log_posterior -= .5 * z * z;
    best = std::max(best, fits.back().log_posterior);
  }
  one.blamable = {};
  double all = 0;
  for (const Fit& at : fits) all += std::exp(at.log_posterior - best);
  for (const Fit& at : fits) {
    const double weight = std::exp(at.log_posterior - best) / all;
    for (std::size_t k = 0; k < one.blamable.size(); ++k)
      one.blamable[k] += weight * at.blamable[k];
  }
}

}  // namespace

int Posterior::best_steps() const {
  for (std::size_t i = 0; i < fits.size(); ++i) {
    if (fits[i].hypothesis.kind == Kind::steps) return static_cast<int>(i);
  }
  return -1;
}

Posterior infer(const SearchLog& log, const SearchPolicy& policy, bool apart) {
  Posterior out;
  out.data = pack(log, policy, apart);
  auto [noise, leading] = estimate_noise(out.data);
  out.noise = noise;
  const Noise used = cautious(out.noise, out.data);
  const auto labels = label_sets(out.data, used, std::move(leading));
  const auto screened = screen_hypotheses(out.data, used, labels);
  for (const Screened& one : screened) {
    if (one.log_posterior < screened.front().log_posterior - margin) break;
    if (out.fits.size() == most_fits) break;
    out.fits.push_back(fit(one.hypothesis, out.data, used, labels[one.labels]));
  }
  std::stable_sort(out.fits.begin(), out.fits.end(),
                   [](const Fit& a, const Fit& b) { return a.log_posterior > b.log_posterior; });
  double sum = 0;
  for (const Fit& one : out.fits) {
    out.share.push_back(std::exp(one.log_posterior - out.fits.front().log_posterior));
    sum += out.share.back();
  }
  for (std::size_t i = 0; i < out.fits.size(); ++i) {
    out.share[i] /= sum;
    const Kind kind = out.fits[i].hypothesis.kind;
    if (kind == Kind::nothing || kind == Kind::better) out.nothing += out.share[i];
    if (kind == Kind::small) out.too_small += out.share[i];
    if (out.fits[i].hypothesis.count > 0 && out.share[i] > averaged_share)
      average_over_layouts(out.fits[i], out.data, used);
    double none = 1;
    for (const double step : out.fits[i].blamable) none *= 1 - step;
    out.blamable += out.share[i] * (1 - none);
  }
  return out;
}

}  // namespace nightjar::bisect::search
