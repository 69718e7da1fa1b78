// All that the log says: noise, hypotheses and their probabilities. A pure function of the log.
#pragma once

#include <span>

#include "bisect/search/laplace.hpp"

namespace nightjar::bisect::search {

struct Posterior {
  Data data;
  Noise noise;
  std::vector<Fit> fits;      // best first
  std::vector<double> share;  // their probabilities; sum to one
  double nothing = 0;         // nothing, or an improvement
  double too_small = 0;
  double blamable = 0;  // P(some step is at least the threshold)

  // Index of the best hypothesis with steps; -1: none is left.
  int best_steps() const;
};
Posterior infer(const SearchLog& log, const SearchPolicy& policy);

// Quick log posteriors of all hypotheses (nothing, small, better, one step, pairs, extensions of
// the best set of several): for each the best lower bound over the given sets of labels; best
// first.
struct Screened {
  Hypothesis hypothesis;
  double log_posterior = 0;
  std::size_t labels = 0;  // the set that gave the bound
};
std::vector<Screened> screen_hypotheses(const Data& data, const Noise& noise,
                                        std::span<const Labels> labels);

// One step of expectation maximisation under `fit`.
Noise updated_noise(const Fit& fit, const Data& data);
// Allows for the uncertainty of the runs' sd: without it the search stops with half the true sd and
// blames wrongly.
Noise cautious(const Noise& noise, const Data& data);

}  // namespace nightjar::bisect::search
