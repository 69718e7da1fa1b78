// The source, or something else that two builds differ in? Each is measured with the other's, in
// turns. Pure; used by the service's confirmations and by `nightjar verify`.
#pragma once

#include <span>
#include <string>

#include "bisect/detection.hpp"
#include "storage/model/lock.hpp"

namespace nightjar::bisect {

// What two builds differ in beside their source. packages: of the environment. wheel: how it was
// compiled and packed; the source is then the Python files, as no native file differs.
NIGHTJAR_ENUM(OtherFactor, packages, wheel);

// Runs of each combination, in the metric's unit. Empty: it does not run.
struct Cells {
  std::span<const double> good;
  std::span<const double> source;  // the good build with the bad one's source alone
  std::span<const double> other;   // the good build with the bad one's packages, or wheel, alone
  std::span<const double> bad;
};

// How the change good -> bad divides, on logs. There are two ways from good to bad, one over each
// mixed cell. The source's part is the mean of what the source does on both ways, and so is the
// other factor's (Shapley's value of two factors): they sum to the whole, whatever the two do
// together. If one mixed cell does not run, the other's way counts alone.
// A part is there when its interval lies above 0 and it reaches half of the threshold; it is absent
// when its interval lies below half of the threshold. `more`: a part is neither, so that more runs
// may tell. Where the source's part is there, the wheel's need not be told: the search that follows
// keeps to one wheel. The variance of a part is that of its ways' Hodges-Lehmann shifts.
struct AttributionVerdict {
  Attribution attribution;
  bool more = false;
  std::string rule;          // one sentence: why
  bool of_failure = false;   // by attribute_failure()
  bool same_source = false;  // by attribute_to_wheel()
  OtherFactor other = OtherFactor::packages;
};
// Throws std::invalid_argument without runs of `good` or `bad`, or for values that are not
// positive. The ratios are after/before as measured; `policy` says which direction is worse.
AttributionVerdict attribute(const Cells& cells, const DetectionPolicy& policy,
                             OtherFactor other = OtherFactor::packages);

// The same for runs that fail or pass. A failure does not divide, so a part is what its mixed cell
// does by itself: the source's part is there if the good build fails with the bad one's source.
// If that cell does not run, its part is what it adds to the other's. Where neither fails by
// itself, the two do it together only, and the cause is unknown.
AttributionVerdict attribute_failure(const Cells& cells, const DetectionPolicy& policy,
                                     OtherFactor other = OtherFactor::packages);

// Where no file of the source differs, all of the change is the wheel's, and nothing mixed has to
// be measured.
AttributionVerdict attribute_to_wheel(std::span<const double> good, std::span<const double> bad);

}  // namespace nightjar::bisect
