// Tries the search on a series' own recorded runs with a planted step. It shows how often the right
// commit is named under this machine's real noise, without measuring. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bisect/search.hpp"
#include "storage/model/replay.hpp"

namespace nightjar::bisect {

struct ReplayOptions {
  int commits = 64;
  double planted = .15;  // the step; 0: none, and any commit named is innocent
  std::uint64_t seed = 0;
};

struct Replay {
  ReplayOutcome outcome = ReplayOutcome::nobody;
  int runs = 0;
  std::vector<Prediction> named;  // the steps of the answer
  // The likeliest single commit, at the first step at which its probability lay in a bin (see
  // bisect/reliability.hpp). Which step is the first does not depend on later ones, so such
  // predictions are right as often as they say if the search's model is right.
  std::vector<Prediction> suspected;
};

// Whether there are enough recorded runs to draw from: six builds with three or more each.
bool can_replay(std::span<const std::vector<double>> builds);

// `builds`: positive values of each build's runs, in the order of the builds.
// A replayed run deviates as a recorded run does from its build's median, times sqrt(n / (n - 1))
// since that median is of the same n runs. A session deviates as one build's median does from the
// next one's, over sqrt(2). Throws std::invalid_argument unless can_replay(builds).
Replay replay(std::span<const std::vector<double>> builds, const ReplayOptions& options,
              const SearchPolicy& policy);

}  // namespace nightjar::bisect
