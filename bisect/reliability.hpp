// When a search says .99, how often is it right? Predictions with a known truth, by what they said.
// Pure; used by replays and by the service's measure of trust.
#pragma once

#include <span>
#include <vector>

#include "bisect/statistics.hpp"
#include "storage/model/replay.hpp"

namespace nightjar::bisect {

// Bins of stated probability begin at 0, .1, .25, .5, .75, .9 and .99. The last one ends at 1,
// which belongs to it. They are narrow where accusations are: nobody is named below .99.
std::size_t probability_bin(double probability);

struct Reliability {
  double from = 0, to = 1;  // the bin
  int cases = 0, right = 0;
  double stated = 0;  // mean of what was said; 0 without cases
  Interval interval;  // 95 % (Clopper and Pearson) of the share that is right
};
// Every bin, in order. Assumes that predictions of one bin are independent, so a search should
// count once in a bin. Wilson's interval was refused: close to 1, where a search speaks, it may
// cover less than it says.
std::vector<Reliability> reliability(std::span<const Prediction> predictions);

}  // namespace nightjar::bisect
