// The same search where a run passes or fails: since which commit does a test fail, or fail more
// often? Used inside `bisect/search` only.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "bisect/search.hpp"

namespace nightjar::bisect::search {

// Runs of each measured commit. A gap lies between neighbouring measured commits.
struct FailureData {
  std::vector<int> commits;            // ascending; rank -> commit
  std::vector<double> failed, passed;  // of the runs before a rank; one more at the end
  std::vector<double> mass;            // prior mass of each gap
  int runs = 0;

  int gaps() const { return static_cast<int>(commits.size()) - 1; }
};
// Both ends must have been measured.
FailureData pack_failures(const SearchLog& log);

// Up to two steps of the failure rate, the second in a later gap; -1: there is none.
struct FailureHypothesis {
  std::array<int, 2> gaps{-1, -1};
  double share = 0;               // its probability
  std::array<double, 3> rate{};   // expected before, between and after its steps
  std::array<double, 2> rises{};  // P(the step is a rise)

  int steps() const { return (gaps[0] >= 0) + (gaps[1] >= 0); }
  bool has(int gap) const { return gaps[0] == gap || gaps[1] == gap; }
  // P(it has a rise in each of these gaps).
  double has_rises(const std::vector<int>& sought) const;
};

// Method: a run fails with a rate that is constant between steps; each rate is integrated over a
// grid of 51 values, so that the posterior is exact on the grid. A rise is at least `least`, in
// points of the rate. Assumes that runs of a commit fail independently of each other. Refused: a
// known rate of flaky failures, as in flake-aware culprit finding (ICST 2023), which takes a test
// that only became flaky for one that was never broken. Best first.
std::vector<FailureHypothesis> infer_failures(const FailureData& data, double least);

// Log odds that `bad` fails more often than `good`, in these runs alone, against one common rate.
struct FailureCounts {
  double failed = 0, passed = 0;
};
double log_odds_of_rise(FailureCounts good, FailureCounts bad, double least);

// The commit and the number of its runs that tell most about the steps' places for their cost.
struct FailureChoice {
  int commit = 0, runs = 1;
};
FailureChoice choose_failure_run(const FailureData& data,
                                 const std::vector<FailureHypothesis>& hypotheses,
                                 const SearchLog& log, const SearchPolicy& policy);

// What next_step() is where `policy.of_failures`. The log is valid, and both ends have runs.
NextStep next_failure_step(const SearchLog& log, const SearchPolicy& policy);

}  // namespace nightjar::bisect::search
