// Robust location, shift and their intervals: what the numbers of a few noisy runs mean. Pure; used
// by detection, reports, and the runner's tables.
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
// One-sample Hodges-Lehmann: median of the Walsh averages (i <= j). Sd relative to the median on
// real A/A data .92 (mean .93, minimum 1.45). Over 2,000 values it works on 2,000 of their
// quantiles.
double hodges_lehmann(std::span<const double> values);
// Interval of the location by inverting the signed-rank test at `confidence` (e.g. .95): exact
// quantiles up to 50 values, normal beyond. Assumes symmetry about the location. With fewer than 6
// values even the full range covers less than .95 (n = 5: .9375); the full range is returned then.
// A bootstrap of the mean was refused: it covers .86 to .90 of a nominal .95.
Interval hodges_lehmann_interval(std::span<const double> values, double confidence);

// Two-sample: after - before as the median of pairwise differences, with the interval from
// inverting the Mann-Whitney test: exact quantiles up to 900 pairs, normal beyond. Assumes that
// both sides differ in location only.
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

// Two-sided p of the Mann-Whitney test (exact up to 900 pairs without ties, else normal with
// continuity and tie correction).
double mann_whitney_p(std::span<const double> a, std::span<const double> b);
// Its normal score with tie correction and without continuity correction; positive when `b` is
// larger, 0 when all values are equal.
double mann_whitney_z(std::span<const double> a, std::span<const double> b);

// P(W+ <= w) of the signed-rank statistic of n values, n <= 50 (exact).
double signed_rank_cdf(int n, int w);
// P(U <= u) of the Mann-Whitney statistic of n against m values (exact; O((n m)^2)).
double mann_whitney_cdf(int n, int m, int u);

}  // namespace nightjar::bisect
