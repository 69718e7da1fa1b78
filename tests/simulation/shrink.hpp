// Makes a failing simulation smaller while it still fails in the same way.
#pragma once

#include "tests/simulation/plan.hpp"
#include "tests/simulation/simulation.hpp"

namespace nightjar::simulation {

// Bounds within which the seed still violates the same invariant: fewer faults, nights, steps,
// machine classes and runners, in this order, each as few as will do.
Bounds shrink(std::uint64_t seed, const Bounds& bounds, const Violation& violation);

}  // namespace nightjar::simulation
