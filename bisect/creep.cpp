// Detects a change over weeks from the levels of builds. Raw runs are not independent.
#include <algorithm>
#include <cmath>
#include <vector>

#include "bisect/detection.hpp"

namespace nightjar::bisect {
namespace {

constexpr std::size_t creep_side = 8, creep_reach = 40;
constexpr double least_creep_z = 3;

// `levels`: newest first, at least two sides.
Creep compared(std::span<const double> levels, const DetectionPolicy& policy) {
  const auto now = levels.first(creep_side), then = levels.last(creep_side);
  Creep out;
  out.reference = levels.size() - creep_side;
  out.before = hodges_lehmann(then);
  out.after = hodges_lehmann(now);
  out.change = judged_value(out.after, policy) / judged_value(out.before, policy) - 1;
  out.z = mann_whitney_z(then, now);
  return out;
}

bool is_worse(const Creep& creep, const DetectionPolicy& policy) {
  const bool higher = policy.direction == Direction::higher_is_better;
  const double worse = higher ? 1 / (1 + creep.change) - 1 : creep.change;
  const bool counts = policy.repeatability == Repeatability::slope ||
                      std::abs(creep.after - creep.before) >= policy.least_change;
  return counts && worse >= policy.threshold && (higher ? -creep.z : creep.z) > least_creep_z;
}

}  // namespace

std::optional<Creep> creep(std::span<const double> levels, const DetectionPolicy& policy) {
  if (!is_judged(policy)) return std::nullopt;
  const auto recent = levels.first(std::min(levels.size(), creep_reach));
  if (recent.size() < 2 * creep_side + 1) return std::nullopt;
  const Creep found = compared(recent, policy);
  if (!is_worse(found, policy) || !is_worse(compared(recent.subspan(1), policy), policy))
    return std::nullopt;
  return found;
}

}  // namespace nightjar::bisect
