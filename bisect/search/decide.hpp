// The parts of a decision: what could be answered, whether it is confirmed, and what to measure.
// Used inside `bisect/search` only.
#pragma once

#include <algorithm>
#include <optional>

#include "bisect/search/posterior.hpp"

namespace nightjar::bisect::search {

// The answer that the best hypothesis with steps gives.
struct Claim {
  int fit = -1;
  std::vector<int> gaps;  // of the steps that make it worse
  double all_real = 0;    // P(each of them is a real worsening)
  double further = 0;     // P(they are, and there is another that matters)

  bool has(int gap) const { return std::find(gaps.begin(), gaps.end(), gap) != gaps.end(); }
};
Claim claim(const Posterior& posterior);
// The policy's certainty of one of several searches.
inline double needed_certainty(const SearchPolicy& policy) {
  return 1 - (1 - policy.certainty) / policy.searches;
}
// Runs that were made for this search.
inline int own_runs(const Posterior& posterior, const SearchPolicy& policy) {
  return posterior.data.runs() - policy.runs_for_others;
}
// P(there is a step in `gap`), small ones included.
double chance_of_step(int gap, const Posterior& posterior);
// Returns the steps of the claim that are certain, located to one cell and confirmed.
Claim certain_part(const Claim& claim, const Posterior& posterior, const SearchLog& log,
                   const SearchPolicy& policy);

// Whether all commits between a gap's ends are untestable, so that it cannot be split further.
bool is_cell(int gap, const Data& data, const SearchLog& log);
// Whether that holds for each gap of the claim.
bool all_cells(const Claim& claim, const Data& data, const SearchLog& log);

// A claim is confirmed by measuring its boundary commits side by side, in sessions that began after
// both had been measured. The model's own certainty is not enough where the machine was disturbed.
struct Check {
  bool passed = false;
  int missing = 0;                    // runs still needed on each side
  bool again_in_new_session = false;  // the fresh runs speak against it
  int fresh_after = 0;                // only sessions after this one count (an index of Data's)
};
Check check_step(int gap, double size, const Posterior& posterior, const SearchLog& log);
// The interleaved runs that the claim's unconfirmed steps need; nullopt if all are confirmed.
std::optional<Measure> confirmation(const Claim& claim, const Posterior& posterior,
                                    const SearchLog& log, const SearchPolicy& policy);

// Shows how the wheels differ on which the claim's steps have to be compared: a commit measured on
// two of them, or one on a wheel that a builder makes. nullopt: nothing shows it.
std::optional<Measure> bridge(const Claim& claim, const Posterior& posterior, const SearchLog& log,
                              const SearchPolicy& policy);

// The measurement with the most information per cost. With costs, a ready commit may fill the time
// until the build of a better one is done; `build_too` names the better one if its build must
// begin.
struct Chosen {
  Measure measure;
  double bits = 0;  // that it is expected to give; 0: no measurement tells anything
};
Chosen choose(const Posterior& posterior, const Claim& claim, const SearchLog& log,
              const SearchPolicy& policy);
// Whether a change is so probable that a build is worth its cost.
bool may_build(const Posterior& posterior);

// P(a step's culprit is one of the commits 1..c) for c = 0..N, over all steps that the posterior
// holds, given that there is one.
std::vector<double> culprit_distribution(const Posterior& posterior, const SearchLog& log);

// If the choice is a commit not built yet and there are R > 1 builders, asks for a round of builds
// at the quantiles j / (R + 1) of the posterior. It measures the one nearest to the choice.
void build_in_rounds(Measure& measure, const Posterior& posterior, const SearchLog& log,
                     const SearchPolicy& policy);

// With costs: says what idle builders make and idle runners measure meanwhile, and which builds in
// progress to abandon for that.
void keep_all_busy(Measure& measure, const Posterior& posterior, const SearchLog& log,
                   const SearchPolicy& policy);

// The most runs in one step.
int largest_batch(const Posterior& posterior);

Belief belief_of(const Posterior& posterior);
// A rough guess of the runs until an answer, for people who wait. `confirming`: runs that confirm
// the claim now; 0: none.
double expected_rest(const Posterior& posterior, const Claim& claim, int confirming);
// Runs that a search takes from its beginning to its end with noise like this and as many steps,
// the smallest of them the claim's or one of the threshold.
double usual_runs(const Posterior& posterior, const Claim& claim);

// What the runs say about all steps together, and P(they reach the threshold).
struct EndsChange {
  double size = 0, sd = 1;
  double reaches_threshold = 0;
};
EndsChange ends_change(const Posterior& posterior);
// Whether they certainly differ, even by a small step.
bool ends_differ(const Posterior& posterior);
// Whether the ends differ, but no single step can be as large as the threshold.
bool no_step_to_blame(const Posterior& posterior);
// Whether all steps together are probably below the threshold, too. Then their places no longer
// matter.
bool is_below_threshold(const Posterior& posterior);

// More runs of every build, if they decide whether a step of the claim is named; else nullopt.
std::optional<Measure> resolve_doubt(const Claim& claim, const Posterior& posterior,
                                     const SearchLog& log, const SearchPolicy& policy);

// The answers without a named step, and for a claim that is certain.
Answer nobody(const Posterior& posterior, const std::string& why);
Answer named(const Claim& claim, const Posterior& posterior, const SearchLog& log);
// The ends differ by their wheels alone.
Answer wheels_differ(const Posterior& posterior);

}  // namespace nightjar::bisect::search
