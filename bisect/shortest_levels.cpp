// The levels that the tests of change_points.cpp can tell, however large the change.
#include <algorithm>

#include "bisect/change_points.hpp"
#include "bisect/step.hpp"

namespace nightjar::bisect {
namespace {

// Whether two sides of these lengths that do not overlap pass one of `tests`.
bool can_be_told(int before, int after, int tests) {
  if (std::min(before, after) < shortest_level) return false;
  const int most = static_cast<int>(most_side);
  before = std::min(before, most);
  after = std::min(after, most);
  double p = 2;  // over the ways to choose one side's positions
  for (int i = 1; i <= before; ++i) p *= static_cast<double>(i) / (after + i);
  return p * tests <= most_p;
}

// The shortest level for which `is_told` holds; 0: none.
template <class Predicate>
int least_level(int positions, Predicate is_told) {
  for (int level = shortest_level; level < positions; ++level)
    if (is_told(level)) return level;
  return 0;
}

}  // namespace

ShortestLevels shortest_levels(int positions, int tests) {
  const int outer = least_level(
      positions, [&](int level) { return can_be_told(level, positions - level, tests + 1); });
  const int between = least_level(
      positions, [&](int level) { return can_be_told(level, (positions - level) / 2, tests + 2); });
  return {outer, between};
}

int shortest_series() {
  int positions = 2 * shortest_level;
  while (shortest_levels(positions, 0).outer == 0) ++positions;
  return positions;
}

}  // namespace nightjar::bisect
