// Which commit did it? One Bayesian posterior over every run of every commit; the next step is a
// pure function of the log of runs. Used by the service's bisections and by `nightjar bisect run`.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "storage/model/enum.hpp"

namespace nightjar::bisect {

// One run: value > 0 in the metric's unit (smaller is better), measured in `session` (0, 1, ... in
// order of time) on `commit` (0 = the good end ... N = the bad end).
struct SearchRun {
  int session = 0;
  int commit = 0;
  double value = 0;
};

// All that is known, in the order in which it was measured.
struct SearchLog {
  int commits = 0;              // N; both ends are measurable
  std::vector<double> prior;    // of commit 1..N being a culprit; empty: uniform
  std::vector<int> untestable;  // commits that do not build: not asked again, mass kept
  std::vector<int> built;       // commits whose build exists already, besides the ends
  std::vector<SearchRun> runs;
};

struct SearchPolicy {
  double threshold = .07;
  double certainty = .99;  // of the whole answer
  int max_runs = 480;      // budget, all runs included
  int first_runs = 5;      // of each end
  int session_runs = 64;   // a session holds at most so many
  double build_cost = 45;  // in runs
  double session_cost = 2;
  // Builds take long: a commit not built yet is measured in a new session.
  bool build_ends_session = true;
  // Nothing built and so many runs spent: not reproduced.
  int reproduce_runs = 480;
  // Builders at hand: a round builds so many commits at once, at the quantiles of the posterior.
  int builds_at_once = 1;
  // Run-to-run sd of log values that the series' history knows (0: unknown), and the number of runs
  // that this knowledge is worth.
  double expected_noise = 0;
  double expected_noise_runs = 20;
  // The log holds inverses of the measured number: the answer's sentence says sizes of the number
  // itself.
  bool of_inverses = false;
};

// Measure these commits, interleaved in this order; `new_session`: some time after the last one,
// and control runs around it. `confirms`: the boundary of a named step is being confirmed.
struct Measure {
  bool new_session = false;
  bool confirms = false;
  std::vector<int> order;      // commit of each run
  std::vector<int> build_too;  // not measured yet, but worth building meanwhile
};

struct NamedStep {
  int first = 0,
      last = 0;  // commits first..last are the cell: last minus first + 1 adjacent suspects
  double probability = 0;
  double ratio = 1, low = 1, high = 1;
};

struct CellMass {
  int first = 0, last = 0;
  double probability = 0;
};

// How a search ends. several_small: no step may be as large as the threshold, but together they
// are. below_threshold: the change is real, and too small to blame anybody for it.
NIGHTJAR_ENUM(SearchOutcome, culprit, several_small, below_threshold, not_reproduced, inconclusive);

struct Answer {
  using Outcome = SearchOutcome;
  Outcome outcome = Outcome::inconclusive;
  std::vector<NamedStep> culprits;  // of several_small: the contributors
  std::string rule;                 // one sentence: why it ended so
  std::vector<NamedStep>
      smaller;  // certain, but smaller than the threshold: nobody is blamed for them
};

// What the posterior says now; always filled.
struct Belief {
  double nothing = 0, too_small = 0;
  std::vector<CellMass> cells;  // P(the cell holds a real step), best first, those over .001
  double noise = 0;             // run-to-run sd of log values
  double expected_runs = 0;     // rough rest of runs until an answer
};

struct NextStep {
  std::variant<Measure, Answer> step;
  Belief belief;
};

// Pure and reproducible to the bit. Throws std::invalid_argument for a log that cannot be (a value
// that is not positive and finite, a commit out of range).
NextStep next_step(const SearchLog& log, const SearchPolicy& policy);

}  // namespace nightjar::bisect
