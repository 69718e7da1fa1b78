// What the log says: the noise, and hypotheses with their probabilities. A pure function of the
// log. Used inside `bisect/search` only.
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

  // Index of the best hypothesis with steps; -1: there is none.
  int best_steps() const;
};
// `apart` as of pack().
Posterior infer(const SearchLog& log, const SearchPolicy& policy, bool apart = true);

// Quick log posteriors of all hypotheses: nothing, small, better, one step, pairs, and extensions
// of the best larger set. Each is the best lower bound over the given sets of labels; best first.
struct Screened {
  Hypothesis hypothesis;
  double log_posterior = 0;
  std::size_t labels = 0;  // the set that gave the bound
};
std::vector<Screened> screen_hypotheses(const Data& data, const Noise& noise,
                                        std::span<const Labels> labels);

// One step of expectation maximisation under `fit`.
// `noise`: what the fit was made with.
Noise updated_noise(const Fit& fit, const Data& data, const Noise& noise);
// Widens the runs' sd by its uncertainty. Otherwise a search may stop with half the true sd and
// blame wrongly.
Noise cautious(const Noise& noise, const Data& data);

}  // namespace nightjar::bisect::search
