// One simulation from its plan to its end: what was seen to be wrong, if anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/simulation/plan.hpp"

namespace nightjar::simulation {

struct Violation {
  std::string invariant;  // a few words, the same for every seed
  std::string what;
};

struct Outcome {
  std::optional<Violation> violation;
  int days = 0;  // simulated
  int sessions = 0, steps = 0, deaths = 0;
  int fixes = 0;            // planted improvements whose commit was named
  std::uint64_t trace = 0;  // of all requests, their times and answers: the same for the same plan
};

Outcome simulate(const Plan& plan);

}  // namespace nightjar::simulation
