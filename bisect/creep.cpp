// Detects a change over weeks from the levels of builds. Raw runs are not independent.
#include <algorithm>
#include <cmath>
#include <vector>

#include "bisect/detection.hpp"

namespace nightjar::bisect {
namespace {

constexpr std::size_t kSide = 8, kReach = 40;
constexpr double kLeastZ = 3;

// `levels`: newest first, at least two sides.
Creep compared(std::span<const double> levels) {
  const auto now = levels.first(kSide), then = levels.last(kSide);
  Creep out;
  out.reference = levels.size() - kSide;
  out.before = hodges_lehmann(then);
  out.after = hodges_lehmann(now);
  out.change = out.after / out.before - 1;
  out.z = mann_whitney_z(then, now);
  return out;
}

bool is_worse(const Creep& creep, const DetectionPolicy& policy) {
  const bool higher = policy.direction == Direction::higher_is_better;
  const double worse = higher ? creep.before / creep.after - 1 : creep.change;
  return worse >= policy.threshold && (higher ? -creep.z : creep.z) > kLeastZ;
}

}  // namespace

std::optional<Creep> creep(std::span<const double> levels, const DetectionPolicy& policy) {
  if (policy.repeatability == Repeatability::slope) return std::nullopt;
  const auto recent = levels.first(std::min(levels.size(), kReach));
  if (recent.size() < 2 * kSide + 1) return std::nullopt;
  const Creep found = compared(recent);
  if (!is_worse(found, policy) || !is_worse(compared(recent.subspan(1)), policy))
    return std::nullopt;
  return found;
}

}  // namespace nightjar::bisect
