// Which commit did it? The search holds one Bayesian posterior over every run of every commit. The
// next step is a pure function of the log of runs. Used by the service's bisections and by
// `nightjar bisect run`.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "storage/model/search_result.hpp"

namespace nightjar::bisect {

// One run: a value > 0 in the metric's unit, where smaller is better (but see of_failures). It was
// measured in `session` (0, 1, ... in order of time) on `commit` (0 is the good end, N the bad
// end). `wheel` is the compiled build that the commit's files were laid over, if the log has
// wheels.
struct SearchRun {
  int session = 0;
  int commit = 0;
  double value = 0;
  int wheel = -1;
};

// What a commit takes until its first run can begin. All zero: its build is on the machine.
struct CommitCost {
  int group = -1;              // commits of one group share a wheel; -1: with no other commit
  double build_seconds = 0;    // that a builder needs for the group's wheel; 0: there is one
  double prepare_seconds = 0;  // with the wheel at hand: fetch it, lay files over it, install it
};

// A builder makes the wheel of this commit's group now.
struct BuildInProgress {
  int commit = 0;
  double seconds_left = 0;  // expected; 0 if it takes longer than expected
};

// Everything that is known, in the order in which it was measured.
struct SearchLog {
  int commits = 0;              // N; both ends are measurable
  std::vector<double> prior;    // of commit 1..N being a culprit; empty: uniform
  std::vector<int> untestable;  // commits that do not build: not tried again, but still suspects
  std::vector<int> built;       // commits whose build exists already, besides the ends
  std::vector<SearchRun> runs;
  std::vector<CommitCost> costs;          // of commits 0..N; empty: unknown, all cost the same
  std::vector<BuildInProgress> building;  // matters with costs only
  // The origin of each wheel: what compiled it, such as the nightly builder, an environment of CI
  // or a recipe, numbered from 0. A step that coincides with a change of wheel or origin may be the
  // wheel's. Empty: each commit is a build of its own, and all are compiled alike.
  std::vector<int> origins;
  // With origins: the wheels that each of the commits 0..N can be laid over now. None: a builder
  // must make one first.
  std::vector<std::vector<int>> wheels;
  int builder_origin = -1;  // of the wheels that builders make; -1: there is no builder
  // Commits that have a wheel, but for which no builder can make another one.
  std::vector<int> no_other_wheel;
};

struct SearchPolicy {
  double threshold = .07;
  double certainty = .99;  // of the whole answer
  int max_runs = 480;      // budget, all runs included
  int first_runs = 5;      // of each end
  int session_runs = 64;   // of a session, at most
  double build_cost = 45;  // in runs
  double session_cost = 2;
  // A build takes so long that a commit not built yet is measured in a new session.
  bool build_ends_session = true;
  // A search of two ends without commits between them ends as not reproduced after this many runs.
  int reproduce_runs = 480;
  // Number of builders. A round builds one commit on each, at quantiles of the posterior.
  int builds_at_once = 1;
  // Run-to-run sd of log values from the series' history (0: unknown), and the number of runs that
  // it counts for.
  double expected_noise = 0;
  double expected_noise_runs = 20;
  // With the log's costs: what a run takes, set-up of its process included (0: costs play no part),
  // how many builders there are, and how many machines measure for this search. Then build_cost and
  // builds_at_once play no part.
  double seconds_per_run = 0;
  int builders = 1;
  int runners = 1;
  // Whether Measure::abandon is obeyed. If not, the last idle builder waits for what is needed
  // surely.
  bool abandons_builds = false;
  // The log holds inverses of the measured number. The answer's sentence gives changes of the
  // number itself.
  bool of_inverses = false;
  // A run's value says whether it failed: 1, or 0 if it passed. Sought is the commit since which
  // runs fail more often, by at least `threshold` in points of the rate (.02: 0 to 2 %).
  bool of_failures = false;
  // How many searches are judged together, this one included: the chance that any of them names a
  // commit by mistake is shared among them in equal parts.
  int searches = 1;
  // Runs in the log that other searches asked for. This search loses no patience over them.
  int runs_for_others = 0;
};

// Asks to measure these commits, interleaved in this order. `new_session`: some time after the last
// one, between control runs. `confirms`: these runs confirm the boundary of a named step. With
// costs the order may name a commit whose wheel must be made first: then nothing can be measured
// usefully before that, so make it, wait for the next build that ends, and ask again.
struct Measure {
  bool new_session = false;
  bool confirms = false;
  std::vector<int> order;  // commit of each run
  // With the log's origins: the wheel of each run in `order`. -1: one that a builder must make.
  std::vector<int> wheels;
  std::vector<int> build_too;  // worth building meanwhile, to be measured later; the best first
  // With costs: builds in progress that the search no longer needs, though it needs their builders.
  std::vector<int> abandon;
  // With costs and several runners: ready commits for the idle ones, each as often as `order` is
  // long, in a session of its own.
  std::vector<int> measure_too;
};

using nightjar::CellMass;
using nightjar::NamedStep;
using nightjar::SearchOutcome;

struct Answer {
  using Outcome = SearchOutcome;
  Outcome outcome = Outcome::inconclusive;
  std::vector<NamedStep> culprits;  // of several_small: the contributors
  std::string rule;                 // one sentence: why the search ended so
  std::vector<NamedStep> smaller;   // certain steps below the threshold: nobody is blamed for them
};

// What the posterior says now. Always filled.
struct Belief {
  double nothing = 0, too_small = 0;
  std::vector<CellMass> cells;  // P(the cell holds a real step), best first, those over .001
  double noise = 0;             // run-to-run sd of log values
  double expected_runs = 0;     // a rough guess of the runs until an answer
};

struct NextStep {
  std::variant<Measure, Answer> step;
  Belief belief;
};

// Pure and reproducible to the bit. Throws std::invalid_argument for an impossible log: a value
// that is not positive and finite, or a commit out of range.
NextStep next_step(const SearchLog& log, const SearchPolicy& policy);

}  // namespace nightjar::bisect
