// Robust location and shift of a few noisy runs, with their intervals. Pure; used by detection,
// reports, and the runner's tables.
#pragma once

#include <span>
#include <vector>

namespace nightjar::bisect {

struct Interval {
  double low = 0, high = 0;
};

// All functions here throw std::invalid_argument unless there is a value and all are finite.
double median(std::span<const double> values);
// 1.4826 * median absolute deviation from the median.
double robust_sd(std::span<const double> values);
// The sd of the logs of positive values about the mean of their group, pooled over groups. 0 where
// no group has two values; it does not throw.
double sd_of_logs(const std::vector<std::vector<double>>& groups);
// One-sample Hodges-Lehmann: the median of the Walsh averages (i <= j). On real A/A data its sd is
// .92 of the median's (mean .93, minimum 1.45). From over 2,000 values it uses 2,000 quantiles.
double hodges_lehmann(std::span<const double> values);
// Interval of the location by inverting the signed-rank test at `confidence` (e.g. .95). Quantiles
// are exact up to 50 values and normal beyond. Assumes symmetry about the location.
// With fewer than 6 values it returns the full range, which covers less than .95 (n = 5: .9375).
// A bootstrap of the mean was refused: it covers .86 to .90 of a nominal .95.
Interval hodges_lehmann_interval(std::span<const double> values, double confidence);

// Two-sample: after - before as the median of pairwise differences. The interval inverts the
// Mann-Whitney test, with exact quantiles up to 900 pairs and normal ones beyond. Assumes that both
// sides differ in location only.
struct Difference {
  double value = 0, low = 0, high = 0;
};
Difference difference(std::span<const double> before, std::span<const double> after,
                      double confidence);

// The same on logs: the ratio of locations after/before. All values must be positive. Assumes that
// both sides differ by a factor only.
struct Ratio {
  double ratio = 1, low = 0, high = 0;
};
Ratio shift(std::span<const double> before, std::span<const double> after, double confidence);

// Two-sided p of the Mann-Whitney test, as a permutation test of midranks. Exact up to 900 pairs,
// with ties too; else normal with continuity and tie correction.
double mann_whitney_p(std::span<const double> a, std::span<const double> b);
// The test's normal score, with tie correction and without continuity correction. Positive when `b`
// is larger, 0 when all values are equal.
double mann_whitney_z(std::span<const double> a, std::span<const double> b);

}  // namespace nightjar::bisect
