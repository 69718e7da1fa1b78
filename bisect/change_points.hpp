// The levels of a whole series, and the changes between them. Pure; used by `nightjar detect`, by
// imported histories, and for a creep over weeks.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "bisect/detection.hpp"

namespace nightjar::bisect {

// A level of fewer positions is a spike.
inline constexpr int shortest_level = 5;

struct Position {
  long long position = 0;
  std::vector<double> runs;
};
// Positions 0, 1, 2, ... of one value each.
std::vector<Position> positions_of(std::span<const double> values);

// A change from one level to a later one. Ratio, interval, before and after are of the same
// positions, by which the change was judged.
struct Change {
  long long position = 0;  // the first that left the level before
  long long until = 0;     // the first of the level after: `position`, if it is one step
  int steps = 1;
  bool worse = false;
  double before = 0, after = 0;
  Ratio ratio;
};

// Several steps in one direction, each below the threshold, are one change if they reach it
// together.
struct Levels {
  std::vector<int> begins;      // index of each level's first position; 0 first
  int tests = 0;                // that the levels passed together
  std::vector<Change> changes;  // of at least the threshold, in order of position
  std::optional<Change> below;  // the largest step that is part of none of them
  std::optional<Change> whole;  // from the first level to the last; none if there is one level
  bool whole_counts = false;    // it reaches the threshold
};

// Works on medians of positions, since raw runs are not independent. Levels come from the optimal
// partition. Each step is then judged between its two levels, by up to 32 positions a side: a
// permutation test of midranks, exact with ties; all of a series share an error of 1 % (Holm). A
// step must also exceed the scatter of both levels, and each side needs `shortest_level` positions
// nearer to its own level. What fails is no step, and its levels are one.
// Throws std::invalid_argument for values that are not positive.
Levels find_levels(std::span<const Position> series, const DetectionPolicy& policy);
// The changes of find_levels().
std::vector<Change> change_points(std::span<const Position> series, const DetectionPolicy& policy);

// The shortest levels that can be told in a stretch without a change, however large they are: at
// one of its ends, and in the middle. `tests`: of the series so far. 0: the stretch is too short.
struct ShortestLevels {
  int outer = 0, between = 0;
};
ShortestLevels shortest_levels(int positions, int tests);
// The fewest positions in which a change can be found.
int shortest_series();

}  // namespace nightjar::bisect
