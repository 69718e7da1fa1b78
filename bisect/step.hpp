// How a step between two levels is judged. Used inside `bisect` only.
#pragma once

#include <cmath>
#include <span>

#include "bisect/detection.hpp"

namespace nightjar::bisect {

inline constexpr double most_p = .01;         // of all tests of a series together
inline constexpr std::size_t most_side = 32;  // positions a side that a step is judged by

struct JudgedStep {
  double p = 1;  // of a permutation test
  double before = 0, after = 0;
  Ratio ratio;
  // Its interval excludes 1, and half the threshold if it reaches the threshold, as a confirmation
  // asks. It exceeds the scatter of both sides. Each side has as many positions as make a level
  // that lie nearer to its own median than to the other's.
  bool stands = false;

  double size() const { return std::abs(std::log(ratio.ratio)); }
  bool rises() const { return ratio.ratio > 1; }
};

// All figures are of these two sides, which are logs.
JudgedStep judge_step(std::span<const double> before, std::span<const double> after,
                      const DetectionPolicy& policy);

}  // namespace nightjar::bisect
