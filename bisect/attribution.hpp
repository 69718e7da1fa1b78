// The source or the packages? Two builds that differ in both, each also with the other's packages,
// measured in turns. Pure; used by the service's confirmations and by `nightjar verify`.
#pragma once

#include <span>
#include <string>

#include "bisect/detection.hpp"
#include "storage/model/lock.hpp"

namespace nightjar::bisect {

// Runs of each combination, in the metric's unit. Empty: it does not run.
struct Cells {
  std::span<const double> good;         // the good wheel with its own packages
  std::span<const double> source;       // the bad wheel with the good one's packages
  std::span<const double> environment;  // the good wheel with the bad one's packages
  std::span<const double> bad;          // the bad wheel with its own packages
};

// How the change good -> bad divides, on logs. There are two ways from good to bad, one over each
// mixed cell. The source's part is the mean of what the source does on both ways, and so is the
// packages' (Shapley's value of two factors): they sum to the whole, whatever the two do together.
// If one mixed cell does not run, the other's way counts alone.
// A part is there when its interval lies above 0 and it reaches half of the threshold; it is absent
// when its interval lies below half of the threshold. `more`: a part is neither, so that more runs
// may tell. The variance of a part is that of its ways' Hodges-Lehmann shifts.
struct AttributionVerdict {
  Attribution attribution;
  bool more = false;
  std::string rule;         // one sentence: why
  bool of_failure = false;  // by attribute_failure()
};
// Throws std::invalid_argument without runs of `good` or `bad`, or for values that are not
// positive. The ratios are after/before as measured; `policy` says which direction is worse.
AttributionVerdict attribute(const Cells& cells, const DetectionPolicy& policy);

// The same of runs that fail or pass. A failure does not divide, so a part is what its mixed cell
// does by itself: the source's part is there if the bad wheel fails with the good one's packages.
// If that cell does not run, its part is what it adds to the other's. Where neither fails by
// itself, the two do it together only, and the cause is unknown.
AttributionVerdict attribute_failure(const Cells& cells, const DetectionPolicy& policy);

}  // namespace nightjar::bisect
