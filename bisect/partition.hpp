// The levels of a series as the optimal partition says them. Used inside `bisect` only.
#pragma once

#include <span>
#include <vector>

namespace nightjar::bisect {

// The scatter of single values about their level, from differences between neighbours: the mean of
// their lower three quarters. It holds while fewer than a fourth of them have a step or a spike in
// them. Where most are 0, as in rounded values that flicker, the others' median times their share
// counts. The median absolute deviation was refused: it counts steps as scatter. So was one
// quantile of the differences: of rounded values it jumps.
double neighbour_sd(std::span<const double> values);

// Up to `shortest` - 1 values at either end may be apart: too few for a level, and unlike the one
// next to them. All others are in [from, to).
struct Partition {
  std::vector<int> begins;  // the index of each level's first value; `from` first
  int from = 0, to = 0;
};

// Minimises the sum of absolute deviations from each level's median, plus `penalty` for each level
// after the first and for values apart. A level has at least `shortest` values. With fewer than two
// levels' worth of values it is one level.
// It is exact up to 2,000 different values. Beyond, medians are taken from 2,000 quantiles.
// Takes time for values times medians: 10,000 values take .1 s.
Partition optimal_partition(std::span<const double> values, int shortest, double penalty);

}  // namespace nightjar::bisect
