// Detects a change over weeks from the levels of builds. Raw runs are not independent.
#include <algorithm>
#include <cmath>
#include <vector>

#include "bisect/detection.hpp"

namespace nightjar::bisect {
namespace {

constexpr std::size_t creep_side = 8, creep_reach = 40;
constexpr double most_creep_p = .0027;  // two-sided, of a normal score of 3

// `levels`: newest first, at least two sides. nullopt: the newest are not worse than the oldest.
std::optional<Creep> ends_that_creep(std::span<const double> levels,
                                     const DetectionPolicy& policy) {
  const auto now = levels.first(creep_side), then = levels.last(creep_side);
  Creep out;
  out.reference = levels.size() - creep_side;
  out.before = hodges_lehmann(then);
  out.after = hodges_lehmann(now);
  out.change = judged_value(out.after, policy) / judged_value(out.before, policy) - 1;
  out.z = mann_whitney_z(then, now);
  const bool higher = policy.direction == Direction::higher_is_better;
  const double worse = higher ? 1 / (1 + out.change) - 1 : out.change;
  const bool counts = policy.repeatability == Repeatability::slope ||
                      std::abs(out.after - out.before) >= policy.least_change;
  const bool is_worse = counts && worse >= policy.threshold && (out.z > 0) != higher &&
                        mann_whitney_p(then, now) <= most_creep_p;
  return is_worse ? std::optional(out) : std::nullopt;
}

}  // namespace

std::optional<Creep> creep(std::span<const double> levels, const DetectionPolicy& policy) {
  if (!is_judged(policy)) return std::nullopt;
  const auto recent = levels.first(std::min(levels.size(), creep_reach));
  if (recent.size() < 2 * creep_side + 1) return std::nullopt;
  const auto found = ends_that_creep(recent, policy);
  if (!found || !ends_that_creep(recent.subspan(1), policy)) return std::nullopt;
  return found;
}

}  // namespace nightjar::bisect
