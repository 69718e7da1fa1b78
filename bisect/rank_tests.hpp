// Ranks at which ordered pairwise values bound an interval. Used inside `bisect` only.
#pragma once

#include <span>

namespace nightjar::bisect {

// Throws std::invalid_argument unless there is at least one value and all are finite.
void require_values(std::span<const double> values);

// The 1-based rank k for which the k-th smallest and k-th largest Walsh average of n values bound
// the location.
long long signed_rank_bound(long long n, double confidence);
// The same for the n * m differences of two samples.
long long mann_whitney_bound(long long n, long long m, double confidence);

}  // namespace nightjar::bisect
