// How well a hypothesis explains the runs: its evidence by Laplace's approximation, and the
// posterior of its parameters. Used inside `bisect/search` only.
#pragma once

#include "bisect/search/cholesky.hpp"
#include "bisect/search/model.hpp"

namespace nightjar::bisect::search {

// Parameters in order: mu, D_1..D_K, u_0..u_(W-1), d_0..d_(T-1). Each build has a layout term of
// its own. These are eliminated from the system; `layout` holds their modes.
struct Fit {
  Hypothesis hypothesis;
  double log_posterior = 0;  // evidence and prior of the hypothesis
  std::vector<double> theta;
  std::vector<double> layout;
  std::vector<double> block_weight;  // precision that each block adds
  std::vector<double> build_weight;  // precision of each build's layout term, prior included
  Labels outlying;
  Lower factor;                               // of the posterior precision of theta
  std::array<double, most_steps> worse{};     // P(step k is a worsening that matters)
  std::array<double, most_steps> relevant{};  // P(it is not small beside the largest)
  std::array<double, most_steps> blamable{};  // P(it is at least the threshold)

  double step(int k) const { return theta[static_cast<std::size_t>(k) + 1]; }
  std::size_t wheels = 0;  // W
  std::size_t wheel_at(int wheel) const {
    return 1 + static_cast<std::size_t>(hypothesis.count) + static_cast<std::size_t>(wheel);
  }
  std::size_t session_at(int session) const {
    return wheel_at(static_cast<int>(wheels)) + static_cast<std::size_t>(session);
  }
  // -1: 0.
  double wheel_effect(int wheel) const { return wheel < 0 ? 0 : theta[wheel_at(wheel)]; }
  // Level of the commit of rank `rank` without wheel, session and layout. rank + .5 is between two
  // measured commits.
  double level(double rank) const {
    double sum = theta[0];
    for (int k = 0; k < hypothesis.count; ++k) {
      if (rank > hypothesis.gaps[static_cast<std::size_t>(k)]) sum += step(k);
    }
    return sum;
  }
};

// `labels` is the start; a better start finds a better mode. `rounds` counts the alternations of
// least squares and outlier weights. One is enough from the labels of a fit to similar noise.
Fit fit(const Hypothesis& hypothesis, const Data& data, const Noise& noise, const Labels& labels,
        int rounds = 5);

// The linear system of fixed weights: `weight` and `moment` (weight times value) of each block.
struct System {
  Lower precision;
  std::vector<double> right;
  double log_prior_determinant = 0;
  double log_layout_determinant = 0;
  std::vector<double> build_weight;
};
void assemble(System& system, const Hypothesis& hypothesis, const Data& data, const Noise& noise,
              const std::vector<double>& weight, const std::vector<double>& moment);

// The coefficients of a prediction in theta's order, and the variance that they leave out.
struct Row {
  std::vector<double> x;
  double rest = 0;
};
// A run of a measured build, whose layout term is known, in the newest session or in a new one.
Row measured_row(const Fit& fit, const Data& data, const Noise& noise, int build, bool new_session);
// The wheel of a build that was not measured: one of Data's, or a new one of an origin. Neither:
// wheels play no part.
struct WheelChoice {
  int measured = -1, origin = -1;
};
// The same for a build that was not measured. `rank` as in level().
Row new_row(const Fit& fit, const Data& data, const Noise& noise, double rank, WheelChoice wheel,
            bool new_session);
// The effect that is expected of a wheel.
double expected_effect(const Fit& fit, const Data& data, const Noise& noise, WheelChoice wheel);
double variance(const Fit& fit, Row row);

// The session variance of a new session, given the last one.
inline double fresh_session(const Noise& noise) {
  return noise.session * (1 - session_correlation * session_correlation);
}

}  // namespace nightjar::bisect::search
