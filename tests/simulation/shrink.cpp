#include "tests/simulation/shrink.hpp"

namespace nightjar::simulation {

Bounds shrink(std::uint64_t seed, const Bounds& bounds, const Violation& violation) {
  const auto fails = [&](const Bounds& tried) {
    const auto found = simulate(make_plan(seed, tried)).violation;
    return found && found->invariant == violation.invariant;
  };
  std::set<Fault> faults = make_plan(seed, bounds).faults;
  Bounds small = bounds;
  for (const Fault fault : all_of<Fault>()) {
    std::set<Fault> fewer = faults;
    if (fewer.erase(fault) == 0) continue;
    Bounds tried = small;
    tried.faults = fewer;
    if (fails(tried)) faults = fewer;
  }
  small.faults = faults;
  const auto lower = [&](std::optional<int> Bounds::*bound, int least, int most) {
    for (int value = least; value < most; ++value) {
      Bounds tried = small;
      tried.*bound = value;
      if (!fails(tried)) continue;
      small = tried;
      return;
    }
  };
  const Plan plan = make_plan(seed, small);
  lower(&Bounds::nights, 0, plan.nights());
  lower(&Bounds::steps, 0, static_cast<int>(plan.steps.size()));
  lower(&Bounds::gains, 0, static_cast<int>(plan.gains.size()));
  lower(&Bounds::wheels, 0, static_cast<int>(plan.wheels.size()));
  lower(&Bounds::native, 0, plan.native.empty() ? 0 : 1);
  lower(&Bounds::packages, 0, plan.broken_packages.empty() ? 0 : 1);
  lower(&Bounds::classes, 1, plan.classes);
  lower(&Bounds::runners, 1, static_cast<int>(plan.runners.size()));
  return small;
}

}  // namespace nightjar::simulation
