// The search tried on a series' own recorded runs, with a step planted: how often it names the
// right commit under this machine's real noise, without measuring anything. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bisect/search.hpp"
#include "storage/model/replay.hpp"

namespace nightjar::bisect {

struct ReplayOptions {
  int commits = 64;
  double planted = .15;  // the step; 0: none, so that nobody must be named
  std::uint64_t seed = 0;
};

struct Replay {
  ReplayOutcome outcome = ReplayOutcome::nobody;
  int runs = 0;
};

// Recorded runs that suffice to be drawn from: six builds of three or more runs.
bool can_replay(std::span<const std::vector<double>> builds);

// `builds`: positive values of the runs of each build, in the order of the builds. A run of the
// replay is a recorded run's deviation from its build's median (widened by sqrt(n / (n - 1)), for
// that median is of the same n runs); a session has the deviation of one build's median from the
// next one's, over sqrt(2). Throws std::invalid_argument unless can_replay(builds).
Replay replay(std::span<const std::vector<double>> builds, const ReplayOptions& options,
              const SearchPolicy& policy);

}  // namespace nightjar::bisect
