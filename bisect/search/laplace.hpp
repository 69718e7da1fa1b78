// How well a hypothesis explains the runs: Laplace evidence, and the posterior of its parameters.
#pragma once

#include "bisect/search/cholesky.hpp"
#include "bisect/search/model.hpp"

namespace nightjar::bisect::search {

// Parameters in order: mu, D_1..D_K, d_0..d_(T-1). Layout terms are eliminated from the system, as
// each build has one of its own; `layout` holds their modes.
struct Fit {
  Hypothesis hypothesis;
  double log_posterior = 0;  // evidence and prior of the hypothesis
  std::vector<double> theta;
  std::vector<double> layout;
  std::vector<double> block_weight;  // precision that each block brings
  std::vector<double> build_weight;  // precision of each build's layout term, prior included
  Labels outlying;
  Lower factor;                               // of the posterior precision of theta
  std::array<double, most_steps> worse{};     // P(step k is a worsening that matters)
  std::array<double, most_steps> relevant{};  // P(it is not small beside the largest)
  std::array<double, most_steps> blamable{};  // P(it is at least the threshold)

  double step(int k) const { return theta[static_cast<std::size_t>(1 + k)]; }
  std::size_t session_at(int session) const {
    return static_cast<std::size_t>(1 + hypothesis.count + session);
  }
  // Level of a build at or after rank `rank` (rank + .5: between two), without session and layout.
  double level(double rank) const {
    double sum = theta[0];
    for (int k = 0; k < hypothesis.count; ++k) {
      if (rank > hypothesis.gaps[static_cast<std::size_t>(k)]) sum += step(k);
    }
    return sum;
  }
};

// `labels`: where to start from; a better start finds a better mode. `rounds` of weighted least
// squares and outlier weights: one is enough from the labels of a fit to much the same noise.
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

// Row of a prediction for a build in the newest session (or one after it), in theta's order, and
// the variance of what the row leaves out. `rank` as in level(); measured: its own layout term is
// known.
struct Row {
  std::vector<double> x;
  double rest = 0;
};
Row prediction_row(const Fit& fit, const Data& data, const Noise& noise, double rank, bool measured,
                   bool new_session);
double variance(const Fit& fit, Row row);

// Session variance that a new session adds to what the last one tells.
inline double fresh_session(const Noise& noise) {
  return noise.session * (1 - session_correlation * session_correlation);
}

}  // namespace nightjar::bisect::search
