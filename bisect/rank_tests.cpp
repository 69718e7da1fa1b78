// Distributions of the rank statistics under the null hypothesis, and the Mann-Whitney test.
#include "bisect/rank_tests.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "bisect/statistics.hpp"

namespace nightjar::bisect {
namespace {

constexpr int exact_values = 50;  // signed rank: a double still counts 2^50 subsets exactly
constexpr int exact_pairs = 900;  // Mann-Whitney: the recurrence costs the square of this

double normal_quantile(double p) {
  return boost::math::quantile(boost::math::normal(), p);
}

// P(U = u) for all u: f(n, m, u) = n/(n+m) f(n-1, m, u-m) + m/(n+m) f(n, m-1, u).
std::vector<double> mann_whitney_density(int n, int m) {
  std::vector<std::vector<double>> row(static_cast<std::size_t>(m) + 1, {1.0});
  for (int i = 1; i <= n; ++i) {
    for (int j = 1; j <= m; ++j) {
      const auto& above = row[static_cast<std::size_t>(j)];     // (i - 1, j)
      const auto& left = row[static_cast<std::size_t>(j) - 1];  // (i, j - 1)
      std::vector<double> here(static_cast<std::size_t>(i * j) + 1, 0.0);
      const double share = static_cast<double>(i) / (i + j);
      for (std::size_t u = 0; u < above.size(); ++u) {
        here[u + static_cast<std::size_t>(j)] += share * above[u];
      }
      for (std::size_t u = 0; u < left.size(); ++u) here[u] += (1 - share) * left[u];
      row[static_cast<std::size_t>(j)] = std::move(here);
    }
  }
  return row[static_cast<std::size_t>(m)];
}

// Subsets of {1..n} with sum w, as shares of 2^n.
std::vector<double> signed_rank_density(int n) {
  std::vector<double> density(static_cast<std::size_t>(n * (n + 1) / 2) + 1, 0.0);
  density[0] = 1;
  for (int i = 1, top = 0; i <= n; ++i) {
    for (int w = top; w >= 0; --w) {
      const double half = density[static_cast<std::size_t>(w)] / 2;
      density[static_cast<std::size_t>(w)] = half;
      density[static_cast<std::size_t>(w) + static_cast<std::size_t>(i)] += half;
    }
    top += i;
  }
  return density;
}

double cumulated(const std::vector<double>& density, int last) {
  double sum = 0;
  for (int i = 0; i <= last && i < static_cast<int>(density.size()); ++i) {
    sum += density[static_cast<std::size_t>(i)];
  }
  return std::min(sum, 1.0);
}

// The rank of the interval's lower end: the smallest w with P(W <= w) >= tail, at least 1.
long long quantile_rank(const std::vector<double>& density, double tail) {
  double sum = 0;
  for (std::size_t w = 0; w < density.size(); ++w) {
    sum += density[w];
    if (sum >= tail) return std::max<long long>(1, static_cast<long long>(w));
  }
  return 1;
}

// Midranks of both samples in order, times two, so that they are whole numbers. `own`: those of
// the first sample add up to this.
struct Midranks {
  std::vector<int> doubled;
  int own = 0;
};

Midranks midranks(std::span<const double> a, std::span<const double> b) {
  std::vector<std::pair<double, bool>> all;
  for (const double x : a) all.emplace_back(x, true);
  for (const double x : b) all.emplace_back(x, false);
  std::sort(all.begin(), all.end());
  Midranks out;
  for (std::size_t i = 0, j = 0; i < all.size(); i = j) {
    while (j < all.size() && !(all[i].first < all[j].first)) ++j;
    const int rank = static_cast<int>(i + j) + 1;
    for (std::size_t k = i; k < j; ++k) {
      out.doubled.push_back(rank);
      out.own += all[k].second ? rank : 0;
    }
  }
  return out;
}

// The share of ways to choose `size` of the midranks whose sum is as far from its mean as `own`.
double permutation_p(const Midranks& ranks, int size) {
  const int mean = size * (static_cast<int>(ranks.doubled.size()) + 1);
  const int far = std::abs(ranks.own - mean);
  std::vector<int> most(static_cast<std::size_t>(size) + 1, 0);  // the largest sum, by count
  int all = 0;
  for (int i = 0; i < size; ++i)
    all += ranks.doubled[ranks.doubled.size() - 1 - static_cast<std::size_t>(i)];
  const auto sums = static_cast<std::size_t>(all) + 1;
  std::vector<std::vector<double>> ways(static_cast<std::size_t>(size) + 1,
                                        std::vector<double>(sums, 0.0));
  ways[0][0] = 1;
  for (const int rank : ranks.doubled) {  // ascending, so the largest sums have the newest ranks
    for (std::size_t chosen = ways.size() - 1; chosen > 0; --chosen) {
      most[chosen] = most[chosen - 1] + rank;
      const auto& fewer = ways[chosen - 1];
      const int last = std::min(most[chosen], all);
      for (int sum = rank; sum <= last; ++sum)
        ways[chosen][static_cast<std::size_t>(sum)] += fewer[static_cast<std::size_t>(sum - rank)];
    }
  }
  double extreme = 0, total = 0;
  for (int sum = 0; sum <= all; ++sum) {
    const double here = ways.back()[static_cast<std::size_t>(sum)];
    total += here;
    if (std::abs(sum - mean) >= far) extreme += here;
  }
  return extreme / total;
}

struct Ranks {
  double u = 0;     // pairs in which b is larger, ties as half
  double ties = 0;  // sum of t^3 - t over groups of equal values
};

Ranks ranks(std::span<const double> a, std::span<const double> b) {
  std::vector<std::pair<double, bool>> all;
  all.reserve(a.size() + b.size());
  for (double x : a) all.emplace_back(x, false);
  for (double x : b) all.emplace_back(x, true);
  std::sort(all.begin(), all.end());
  Ranks out;
  double below = 0;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t j = i;
    double from_a = 0;
    for (; j < all.size() && !(all[i].first < all[j].first); ++j) from_a += all[j].second ? 0 : 1;
    const double size = static_cast<double>(j - i);
    out.u += (size - from_a) * (below + from_a / 2);
    out.ties += size * size * size - size;
    below += from_a;
    i = j;
  }
  return out;
}

double deviation_of_u(double n, double m, double ties) {
  const double all = n + m;
  return std::sqrt(n * m / 12 * (all + 1 - ties / (all * (all - 1))));
}

}  // namespace

long long signed_rank_bound(long long n, double confidence) {
  const double tail = (1 - confidence) / 2;
  if (n <= exact_values) return quantile_rank(signed_rank_density(static_cast<int>(n)), tail);
  const double size = static_cast<double>(n);
  const double mean = size * (size + 1) / 4;
  const double sd = std::sqrt(size * (size + 1) * (2 * size + 1) / 24);
  return std::max<long long>(1, std::llround(std::floor(mean + normal_quantile(tail) * sd)));
}

long long mann_whitney_bound(long long n, long long m, double confidence) {
  const double tail = (1 - confidence) / 2;
  if (n * m <= exact_pairs) {
    return quantile_rank(mann_whitney_density(static_cast<int>(n), static_cast<int>(m)), tail);
  }
  const double mean = static_cast<double>(n * m) / 2;
  const double sd = deviation_of_u(static_cast<double>(n), static_cast<double>(m), 0);
  return std::max<long long>(1, std::llround(std::floor(mean + normal_quantile(tail) * sd)));
}

double mann_whitney_z(std::span<const double> a, std::span<const double> b) {
  require_values(a);
  require_values(b);
  const auto [u, ties] = ranks(a, b);
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  const double sd = deviation_of_u(n, m, ties);
  return sd > 0 ? (u - n * m / 2) / sd : 0;
}

double mann_whitney_p(std::span<const double> a, std::span<const double> b) {
  require_values(a);
  require_values(b);
  const auto [u, ties] = ranks(a, b);
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  if (ties > 0 && n * m <= exact_pairs)
    return a.size() <= b.size() ? permutation_p(midranks(a, b), static_cast<int>(a.size()))
                                : permutation_p(midranks(b, a), static_cast<int>(b.size()));
  if (n * m <= exact_pairs) {
    const double smaller = std::min(u, n * m - u);
    const auto density =
        mann_whitney_density(static_cast<int>(a.size()), static_cast<int>(b.size()));
    return std::min(1.0, 2 * cumulated(density, static_cast<int>(std::lround(smaller))));
  }
  const double sd = deviation_of_u(n, m, ties);
  if (!(sd > 0)) return 1;
  const double z = std::max(0.0, std::abs(u - n * m / 2) - .5) / sd;
  return std::erfc(z / std::sqrt(2.0));
}

}  // namespace nightjar::bisect
