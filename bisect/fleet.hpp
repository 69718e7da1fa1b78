// What a finding must show where thousands of series are judged every night, for ever. Its evidence
// is an e-value, at which anybody may look after any number of runs. The bar that it must reach
// rises with the night's suspects. Pure; used by the engine's confirmations and by `verify`.
#pragma once

#include <span>

#include "bisect/detection.hpp"

namespace nightjar::bisect {

// The e-value against "`bad` is worse than `good` by less than `margin`" (.035 is 3.5 %). Values
// are positive and in the order in which they were measured. While that hypothesis is true, the
// e-value's mean is at most 1, whenever measuring stops, and the probability that it ever reaches x
// is at most 1/x (Ville's inequality).
//
// Method: each rung of confirm()'s ladder is a block. Within a block U counts the pairs in which
// `bad` is worse by more than the margin. Where both sides are exchangeable, q^U has the mean
// [n+m choose n]_q / C(n+m, n), a Gaussian binomial (Mann and Whitney 1947). So their quotient is
// an e-value. Blocks multiply, and five values of q are averaged. Ties count half.
// Assumes that both sides are measured in turns and differ only by a factor. Assumes nothing about
// the noise's shape, other series or other nights. Runs after the last full block are left out.
// Refused: a likelihood ratio of normal errors. It is not valid for heavy tails.
double evidence_of_worse(std::span<const double> good, std::span<const double> bad, double margin,
                         const DetectionPolicy& policy);

// The bar of one night. Runs of stage two are fresh, so only suspects count as tests, and not all
// series that were screened. With k confirmed the bar is suspects / (share (k + 1)): e-LOND (Xu and
// Ramdas 2024) within a night. The expected share of false ones among the night's findings is then
// at most `share`, however the series depend on each other.
//
// Over nights, the expected sum of these shares grows by at most `share` a night. That is the
// "error over patience" of Dandapanthula and Ramdas (arXiv 2501.04130). With 1/30 and nothing that
// ever changes, one night in 30 has a false finding, at most.
// Refused: a budget for all time. Its bar rises without end, and the service has none.
struct NightBar {
  double share = 1. / 30;
  int suspects = 1;
  int confirmed = 0;  // of this night, before the suspect that is judged

  double evidence() const;  // that is needed
};

// confirm() under the night's bar. What is worse by the rule but below the bar is measured further,
// and is inconclusive once the runs are used up. For the bar a steady metric may take 40 a side.
struct FleetConfirmation {
  Confirmation confirmation;
  double evidence = 1;  // against "worse by less than half of the threshold"
};
FleetConfirmation confirm(std::span<const double> good, std::span<const double> bad,
                          const DetectionPolicy& policy, const NightBar& bar);

}  // namespace nightjar::bisect
