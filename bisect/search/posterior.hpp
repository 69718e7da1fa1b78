// All that the log says: noise, hypotheses and their probabilities. A pure function of the log.
#pragma once

#include "bisect/search/laplace.hpp"

namespace nightjar::bisect::search {

struct Posterior {
  Data data;
  Noise noise;
  std::vector<Fit> fits;        // best first
  std::vector<double> share;    // their probabilities; sum to one
  double nothing = 0;           // nothing, or an improvement
  double too_small = 0;

  // Index of the best hypothesis with steps; -1: none is left.
  int best_steps() const;
};
Posterior infer(const SearchLog& log, const SearchPolicy& policy);

// Quick log posteriors of all hypotheses (nothing, small, better, one step, pairs, extensions of the best
// pair) from one factorisation with fixed outlier weights; best first. Good to a nat or two.
struct Screened {
  Hypothesis hypothesis;
  double log_posterior = 0;
};
std::vector<Screened> screen_hypotheses(const Data& data, const Noise& noise);

// One step of expectation maximisation under `fit`. `inflated`: the noise used for the fit.
Noise updated_noise(const Fit& fit, const Data& data, const Noise& noise);
// Allows for the uncertainty of the runs' sd: without it the search stops with half the true sd and blames
// wrongly.
Noise cautious(const Noise& noise, const Data& data);

}  // namespace nightjar::bisect::search
