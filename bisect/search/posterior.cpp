// From the log to probabilities: noise first, under the leading hypothesis, then every hypothesis that may
// matter by Laplace.
#include "bisect/search/posterior.hpp"

#include <algorithm>

namespace nightjar::bisect::search {
namespace {

constexpr int most_rounds = 12;
constexpr double settled = .004;     // relative change of the runs' variance
constexpr double margin = 9;         // nats below the best that are still fitted
constexpr std::size_t most_fits = 48;

Noise first_noise(const Data& data) {
  Noise noise;
  noise.run = data.first_sd * data.first_sd;
  return noise;
}

Noise settle_noise(const Data& data) {
  Noise noise = first_noise(data);
  for (int round = 0; round < most_rounds; ++round) {
    const Noise used = cautious(noise, data);
    const auto screened = screen_hypotheses(data, used);
    const Noise next = updated_noise(fit(screened.front().hypothesis, data, used), data, noise);
    const bool done = std::abs(next.run - noise.run) < settled * noise.run &&
                      std::abs(next.session - noise.session) < settled * noise.session;
    noise = next;
    if (done) break;
  }
  return noise;
}

}  // namespace

int Posterior::best_steps() const {
  for (std::size_t i = 0; i < fits.size(); ++i) {
    if (fits[i].hypothesis.kind == Kind::steps) return static_cast<int>(i);
  }
  return -1;
}

Posterior infer(const SearchLog& log, const SearchPolicy& policy) {
  Posterior out;
  out.data = pack(log, policy);
  out.noise = settle_noise(out.data);
  const Noise used = cautious(out.noise, out.data);
  const auto screened = screen_hypotheses(out.data, used);
  for (const Screened& one : screened) {
    if (one.log_posterior < screened.front().log_posterior - margin) break;
    if (out.fits.size() == most_fits) break;
    out.fits.push_back(fit(one.hypothesis, out.data, used));
  }
  std::stable_sort(out.fits.begin(), out.fits.end(), [](const Fit& a, const Fit& b) {
    return a.log_posterior > b.log_posterior;
  });
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
  }
  return out;
}

}  // namespace nightjar::bisect::search
