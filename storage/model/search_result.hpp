// What a search came to and what it believes, by position in the range that it searches.
#pragma once

#include <optional>
#include <vector>

#include "storage/model/enum.hpp"
#include "storage/model/time.hpp"

namespace nightjar {

// How a search ends. several_small: no single step reaches the threshold, all of them together do.
// below_threshold: the change is real, but too small to blame anybody. wheel: the ends differ by
// their wheels, and no commit made it worse.
NIGHTJAR_ENUM(SearchOutcome, culprit, several_small, below_threshold, not_reproduced, inconclusive,
              wheel);

// A step that a search named: the adjacent suspects first..last, both included, that it could not
// tell apart, and the change after/before with its 95 % interval.
struct NamedStep {
  int first = 0, last = 0;
  double probability = 0;
  double ratio = 1, low = 1, high = 1;
  // The builds on both sides differ in nothing but the step's commits: one wheel, wheels of one
  // origin, or origins whose difference is measured. If not, the wheels may have done it.
  bool isolated = true;

  bool operator==(const NamedStep&) const = default;
};

// The probability that one of first..last is a real step.
struct CellMass {
  int first = 0, last = 0;
  double probability = 0;

  bool operator==(const CellMass&) const = default;
};

// What a search has done, believes and found so far, whatever it searches.
struct SearchTally {
  std::vector<CellMass> posterior;  // the likeliest first
  std::vector<NamedStep> found;     // what it named; may be several
  int runs = 0, sessions = 0;       // that the posterior rests on, the confirmation's included
  double spent_seconds = 0;         // of measuring, in the search's own sessions
  double expected_runs = 0;         // rough rest until an answer
  Time started_at{};
  std::optional<Time> finished_at = {};
};

}  // namespace nightjar
