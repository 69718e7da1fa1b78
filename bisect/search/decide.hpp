// From the posterior to the next step: what could be answered, whether it is confirmed, what to measure.
#pragma once

#include <optional>

#include "bisect/search/posterior.hpp"

namespace nightjar::bisect::search {

// What the best hypothesis with steps would have us say.
struct Claim {
  int fit = -1;
  std::vector<int> gaps;   // of the steps that make it worse
  double all_real = 0;     // P(each of them is a real worsening)
  double further = 0;      // P(they are, and there is another that matters)
};
Claim claim(const Posterior& posterior);
// Those of its steps that are certain, told apart and confirmed each by itself.
Claim certain_part(const Claim& claim, const Posterior& posterior, const SearchLog& log,
                   const SearchPolicy& policy);

// The commits between a gap's ends are all untestable: nothing is left to tell apart.
bool is_cell(int gap, const Data& data, const SearchLog& log);
// For a whole claim.
bool all_cells(const Claim& claim, const Data& data, const SearchLog& log);

// A claim is confirmed by its boundary commits measured side by side in sessions that began after both
// had been seen: the model's own certainty is not enough where the machine was disturbed.
struct Check {
  bool passed = false;
  int missing = 0;          // runs still needed on each side
  bool again_in_new_session = false;  // the fresh runs speak against it
  int fresh_after = 0;      // dense index of the last session that is too old to count
};
Check check_step(int gap, double size, const Posterior& posterior);
// The interleaved runs that the claim's unconfirmed steps need; nullopt: none.
std::optional<Measure> confirmation(const Claim& claim, const Posterior& posterior,
                                    const SearchPolicy& policy);

// The measurement of the largest information per cost.
Measure choose(const Posterior& posterior, const Claim& claim, const SearchLog& log,
               const SearchPolicy& policy);

// If the choice is a commit not built yet and there are several builders: asks for a round of builds at the
// quantiles j / (R + 1) of the posterior, and measures the one nearest to the choice.
void build_in_rounds(Measure& measure, const Posterior& posterior, const SearchLog& log,
                     const SearchPolicy& policy);

// At most so many runs in one step.
int largest_batch(const Posterior& posterior);

Belief belief_of(const Posterior& posterior);
// Runs until an answer: a rough guess for people who wait. `confirming`: runs that confirm the claim now; 0: none.
double expected_rest(const Posterior& posterior, const Claim& claim, int confirming);
// Runs that a search takes from its beginning to its end with noise like this and as many steps, the smallest
// of them the claim's or `step` (log ratio).
double usual_runs(const Posterior& posterior, const Claim& claim, double step);
Answer culprits_of(const Claim& claim, const Posterior& posterior);

}  // namespace nightjar::bisect::search
