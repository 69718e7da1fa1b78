// Alternates weighted least squares with outlier weights, then applies Laplace's approximation at
// the mode.
#include "bisect/search/laplace.hpp"

#include "bisect/search/wheels.hpp"

namespace nightjar::bisect::search {
namespace {

constexpr double least_curvature = .1;  // of a run's EM weight

// Two components: a run is ordinary, or an outlier slower by N(outlier_mean, data.outlier_sd^2).
struct Mixture {
  Mixture(const Noise& noise, double outlier_sd)
      : narrow(1 / noise.run),
        wide(1 / (noise.run + outlier_sd * outlier_sd)),
        ordinary(std::log(1 - noise.outliers) + .5 * std::log(narrow)),
        outlying(std::log(noise.outliers) + .5 * std::log(wide)) {}
  double narrow, wide, ordinary, outlying;

  // Log odds that a run with residual e is an outlier, and the log density of an ordinary one.
  double odds(double e) const {
    return outlying - .5 * wide * (e - outlier_mean) * (e - outlier_mean) - density(e);
  }
  double density(double e) const { return ordinary - .5 * narrow * e * e; }
};

class Fitter {
 public:
  Fitter(const Hypothesis& hypothesis, const Data& data, const Noise& noise, const Labels& labels)
      : data_(data),
        noise_(noise),
        mixture_(noise, data.outlier_sd),
        prior_(step_prior(hypothesis, data)),
        weight_(data.blocks.size()),
        moment_(data.blocks.size()),
        mean_(data.blocks.size()) {
    fit_.hypothesis = hypothesis;
    fit_.outlying = labels;
    fit_.layout.resize(data.measured.size());
    fit_.wheels = data.wheels.size();
  }

  Fit run(int rounds) {
    weigh();
    for (int round = 0; round < rounds; ++round) {
      if (round > 0) {
        relabel();
        weigh();
      }
      solve();
    }
    const double likelihood = final_weights();
    assemble(system_, fit_.hypothesis, data_, noise_, weight_, moment_);
    const double determinant = system_.precision.factor() + system_.log_layout_determinant;
    const double prior = log_prior_density();
    fit_.log_posterior = log_prior(fit_.hypothesis, data_) + likelihood + prior +
                         .5 * system_.log_prior_determinant - .5 * determinant;
    fit_.factor = std::move(system_.precision);
    fit_.block_weight = weight_;
    fit_.build_weight = system_.build_weight;
    judge_steps();
    return std::move(fit_);
  }

 private:
  void weigh() {
    for (std::size_t b = 0; b < data_.blocks.size(); ++b) {
      const Block& block = data_.blocks[b];
      double weight = 0, moment = 0;
      for (int i = block.first; i < block.first + block.count; ++i) {
        const auto run = static_cast<std::size_t>(i);
        const double odd = fit_.outlying[run] * mixture_.wide;
        const double even = (1 - fit_.outlying[run]) * mixture_.narrow;
        weight += odd + even;
        moment += even * data_.y[run] + odd * (data_.y[run] - outlier_mean);
      }
      weight_[b] = weight;
      moment_[b] = moment;
    }
  }

  void relabel() {
    for (std::size_t b = 0; b < data_.blocks.size(); ++b) {
      const Block& block = data_.blocks[b];
      for (int i = block.first; i < block.first + block.count; ++i) {
        const auto run = static_cast<std::size_t>(i);
        fit_.outlying[run] = 1 / (1 + std::exp(-mixture_.odds(data_.y[run] - mean_[b])));
      }
    }
  }

  void solve() {
    assemble(system_, fit_.hypothesis, data_, noise_, weight_, moment_);
    system_.precision.factor();
    fit_.theta = system_.right;
    system_.precision.forward(fit_.theta.data());
    system_.precision.backward(fit_.theta.data());
    for (std::size_t build = 0; build < data_.measured.size(); ++build) {
      const auto [rank, wheel, number] = data_.measured[build];
      const double level = fit_.level(rank) + fit_.wheel_effect(wheel);
      const auto first = static_cast<std::size_t>(data_.build_blocks[build]);
      const auto last = static_cast<std::size_t>(data_.build_blocks[build + 1]);
      double moment = 0;
      for (std::size_t b = first; b < last; ++b) {
        mean_[b] = level + fit_.theta[fit_.session_at(data_.blocks[b].session)];
        moment += moment_[b] - weight_[b] * mean_[b];
      }
      fit_.layout[build] = moment / system_.build_weight[build];
      for (std::size_t b = first; b < last; ++b) mean_[b] += fit_.layout[build];
    }
  }

  // Sets the observed curvature of each block at the mode. Returns the log likelihood (without 2
  // pi).
  double final_weights() {
    double likelihood = 0;
    for (std::size_t b = 0; b < data_.blocks.size(); ++b) {
      const Block& block = data_.blocks[b];
      weight_[b] = 0;
      for (int i = block.first; i < block.first + block.count; ++i) {
        const auto run = static_cast<std::size_t>(i);
        const double e = data_.y[run] - mean_[b], odds = mixture_.odds(e);
        likelihood += mixture_.density(e) + (odds > 30 ? odds : std::log1p(std::exp(odds)));
        const double r = 1 / (1 + std::exp(-odds));
        const double weight = (1 - r) * mixture_.narrow + r * mixture_.wide;
        const double pull = e * mixture_.narrow - (e - outlier_mean) * mixture_.wide;
        weight_[b] += std::max(weight - r * (1 - r) * pull * pull, least_curvature * weight);
        fit_.outlying[run] = r;
      }
    }
    return likelihood;
  }

  // -(theta - mean)' P (theta - mean) / 2, layout terms included.
  double log_prior_density() const {
    const double level_sd = .10;
    double sum = fit_.theta[0] * fit_.theta[0] / (level_sd * level_sd);
    for (int k = 0; k < fit_.hypothesis.count; ++k) {
      sum += std::pow((fit_.step(k) - prior_.mean) / prior_.sd, 2);
    }
    for (int t = 0; t < data_.sessions; ++t) {
      const double d = fit_.theta[fit_.session_at(t)];
      if (t == 0) {
        sum += d * d / noise_.session;
      } else {
        const double from = fit_.theta[fit_.session_at(t - 1)];
        sum += std::pow(d - session_correlation * from, 2) / fresh_session(noise_);
      }
    }
    for (double b : fit_.layout) sum += b * b / noise_.layout;
    if (fit_.wheels > 0) sum += wheel_distance();
    return -.5 * sum;
  }

  // u' P u.
  double wheel_distance() const {
    const Lower precision = wheel_prior(data_, noise_, fit_.hypothesis.odd).precision;
    double sum = 0;
    for (std::size_t i = 0; i < fit_.wheels; ++i)
      for (std::size_t j = 0; j < fit_.wheels; ++j)
        sum += precision.at(i, j) * fit_.wheel_effect(static_cast<int>(i)) *
               fit_.wheel_effect(static_cast<int>(j));
    return sum;
  }

  void judge_steps() {
    double relevant = least_step;
    for (int k = 0; k < fit_.hypothesis.count; ++k) {
      relevant = std::max(relevant, relative_step * fit_.step(k));
    }
    for (int k = 0; k < fit_.hypothesis.count; ++k) {
      Row row{std::vector<double>(fit_.theta.size(), 0.0), 0};
      row.x[static_cast<std::size_t>(k) + 1] = 1;
      const double sd = std::sqrt(variance(fit_, std::move(row))), size = fit_.step(k);
      const double allowed = log_allowed(prior_, size, sd);
      fit_.log_posterior += allowed - log_allowed(prior_, prior_.mean, prior_.sd);
      const auto at = static_cast<std::size_t>(k);
      const double of = std::exp(allowed);
      fit_.worse[at] = std::min(1.0, upper_tail((least_step - size) / sd) / of);
      fit_.relevant[at] = std::min(1.0, upper_tail((relevant - size) / sd) / of);
      fit_.blamable[at] = std::min(1.0, upper_tail((threshold_step - size) / sd) / of);
    }
  }

  const Data& data_;
  const Noise& noise_;
  Mixture mixture_;
  StepPrior prior_;
  System system_;
  Fit fit_;
  std::vector<double> weight_, moment_, mean_;
};

}  // namespace

Fit fit(const Hypothesis& hypothesis, const Data& data, const Noise& noise, const Labels& labels,
        int rounds) {
  return Fitter(hypothesis, data, noise, labels).run(rounds);
}

}  // namespace nightjar::bisect::search
