// Robust location, shift and their intervals: what the numbers of a few noisy runs mean. Pure; used by
// detection, reports, and the runner's tables.
#pragma once

#include <span>

namespace nightjar::bisect {

struct Interval {
  double low = 0, high = 0;
};

// All of these need at least one value, all finite; they throw std::invalid_argument otherwise.
double median(std::span<const double> values);
// 1.4826 * median absolute deviation from the median.
double robust_sd(std::span<const double> values);
// One-sample Hodges-Lehmann: median of the Walsh averages (i <= j).
double hodges_lehmann(std::span<const double> values);
// Interval of the location by inverting the signed-rank test at `confidence` (e.g. .95).
Interval hodges_lehmann_interval(std::span<const double> values, double confidence);

// Two-sample: ratio of locations after/before, estimated on logs (median of pairwise differences),
// with the interval from inverting the Mann-Whitney test. All values must be positive.
struct Ratio {
  double ratio = 1, low = 0, high = 0;
};
Ratio shift(std::span<const double> before, std::span<const double> after, double confidence);
// Two-sided p of the Mann-Whitney test (exact for small samples without ties, else normal with
// continuity and tie correction).
double mann_whitney_p(std::span<const double> a, std::span<const double> b);

}  // namespace nightjar::bisect
