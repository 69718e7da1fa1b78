// What others do, in the search's world: plain bisection, and a rule like Pinpoint's. Each returns
// the cells that it blames. Used by the benchmark of verdicts.
#pragma once

#include <map>
#include <set>

#include "bisect/statistics.hpp"
#include "tests/support/search_world.hpp"

namespace nightjar::test {

// The untried commit nearest to the middle of (low, high); -1: none.
inline int nearest_middle(int low, int high, const std::set<int>& bad) {
  int best = -1;
  for (int i = low + 1; i < high; ++i) {
    if (bad.contains(i)) continue;
    if (best < 0 || std::abs(2 * i - low - high) < std::abs(2 * best - low - high)) best = i;
  }
  return best;
}

// `git bisect run` with the median of `runs` runs against half way between the ends. Calls
// make(commit), which makes a build and returns whether it works, and measured(commit) after the
// runs of one.
template <class AnyWorld, class Make, class Measured>
JobResult bisection(AnyWorld& world, int commits, int runs, Make make, Measured measured) {
  JobResult out;
  const auto level = [&](int commit) {
    world.new_session();
    ++out.sessions;
    std::vector<double> y;
    for (int i = 0; i < runs; ++i) y.push_back(world.measure(commit));
    measured(commit);
    out.runs += runs;
    return bisect::median(y);
  };
  const double good = level(0), threshold = (good + level(commits)) / 2;
  int low = 0, high = commits;
  std::set<int> bad;
  for (;;) {
    const int middle = nearest_middle(low, high, bad);
    if (middle < 0) break;
    ++out.attempts;
    if (!make(middle))
      bad.insert(middle);
    else
      (level(middle) > threshold ? high : low) = middle;
  }
  out.blamed.emplace_back(low, high);
  return out;
}

inline JobResult plain_bisection(World& world, int commits, int runs) {
  return bisection(
      world, commits, runs, [&](int commit) { return world.buildable(commit); }, [](int) {});
}

// The middle of the widest gap whose ends differ, with levels known without any noise: about as few
// build attempts as any search can do with.
inline JobResult midpoints_of_known_levels(World& world, int commits) {
  constexpr double step = .03;
  JobResult out;
  std::set<int> bad;
  std::map<int, double> levels{{0, world.level(0)}, {commits, world.level(commits)}};
  for (;;) {
    int widest = 0, middle = -1;
    for (auto high = std::next(levels.begin()); high != levels.end(); ++high) {
      const auto low = std::prev(high);
      if (std::abs(high->second - low->second) < step || high->first - low->first <= widest)
        continue;
      const int candidate = nearest_middle(low->first, high->first, bad);
      if (candidate < 0) continue;
      widest = high->first - low->first;
      middle = candidate;
    }
    if (middle < 0) break;
    ++out.attempts;
    if (world.buildable(middle))
      levels[middle] = world.level(middle);
    else
      bad.insert(middle);
  }
  for (auto high = std::next(levels.begin()); high != levels.end(); ++high)
    if (high->second - std::prev(high)->second >= step)
      out.blamed.emplace_back(std::prev(high)->first, high->first);
  return out;
}

// Fewest expected build attempts that find `culprits` (1 or 2) in `cells` equally likely cells when
// levels are known without noise and an attempt fails with probability `unbuildable`: dynamic
// programming over where to try next. After a failed attempt two cells are one, told apart no
// longer; all are taken as alike again.
inline double fewest_attempts(int cells, std::size_t culprits, double unbuildable) {
  std::vector<double> one(static_cast<std::size_t>(cells) + 1), two(one.size());
  for (std::size_t n = 2; n < one.size(); ++n) {
    const auto all = static_cast<double>(n), pairs = all * (all - 1) / 2;
    double best_one = 1e9, best_two = 1e9;
    for (std::size_t k = 1; k < n; ++k) {
      const auto left = static_cast<double>(k), right = all - left;
      best_one = std::min(best_one, (left * one[k] + right * one[n - k]) / all);
      best_two = std::min(best_two,
                          (left * (left - 1) / 2 * two[k] + right * (right - 1) / 2 * two[n - k] +
                           left * right * (one[k] + one[n - k])) /
                              pairs);
    }
    one[n] = 1 + unbuildable * one[n - 1] + (1 - unbuildable) * best_one;
    if (n > 2) two[n] = 1 + unbuildable * two[n - 1] + (1 - unbuildable) * best_two;
  }
  return culprits == 1 ? one.back() : two.back();
}

// Two-sided p of Kolmogorov and Smirnov, asymptotic.
inline double kolmogorov_p(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double distance = 0;
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    (a[i] <= b[j] ? i : j) += 1;
    distance = std::max(distance, std::abs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                           static_cast<double>(j) / static_cast<double>(b.size())));
  }
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  const double root = std::sqrt(n * m / (n + m)), t = (root + .12 + .11 / root) * distance;
  if (t < .2) return 1;
  double p = 0;
  for (int r = 1; r < 60; ++r) p += (r % 2 ? 2 : -2) * std::exp(-2 * t * t * r * r);
  return std::clamp(p, 0.0, 1.0);
}

// Like Pinpoint: neighbours are compared by the smaller p of two tests; different at .01: the
// middle is built; unclear: attempts are doubled, 10 to 160. Its table of upper thresholds is
// replaced: a pair is the same when a change of the size sought would give so large a p in 1 % of
// cases (normal approximation).
inline JobResult pinpoint_like(World& world, int commits, double sought) {
  JobResult out;
  std::map<int, std::vector<double>> values;
  std::map<int, int> wanted{{0, 10}, {commits, 10}};
  std::set<int> bad;
  while (!wanted.empty()) {
    world.new_session();
    ++out.sessions;
    for (const auto& [commit, runs] : wanted) {
      for (int i = 0; i < runs; ++i) values[commit].push_back(world.measure(commit));
      out.runs += runs;
    }
    wanted.clear();
    out.blamed.clear();
    std::vector<int> built;
    for (const auto& [commit, runs] : values) built.push_back(commit);
    for (std::size_t k = 0; k + 1 < built.size(); ++k) {
      const int low = built[k], high = built[k + 1];
      const auto &a = values[low], &b = values[high];
      auto mean = [](const std::vector<double>& y) {
        double sum = 0;
        for (double value : y) sum += value;
        return sum / static_cast<double>(y.size());
      };
      if (mean(b) < mean(a)) continue;
      const double p = std::min(bisect::mann_whitney_p(a, b), kolmogorov_p(a, b));
      if (p <= .01) {
        int middle = nearest_middle(low, high, bad);
        while (middle >= 0 && values.size() + wanted.size() < 60) {
          ++out.attempts;
          if (world.buildable(middle)) break;
          bad.insert(middle);
          middle = nearest_middle(low, high, bad);
        }
        if (middle < 0) {
          out.blamed.emplace_back(low, high);
        } else {
          wanted[middle] = 10;
        }
        continue;
      }
      const double sd = std::max(bisect::robust_sd(a), bisect::robust_sd(b));
      const double half = static_cast<double>(std::min(a.size(), b.size())) / 2;
      const double z = sought / std::max(sd, 1e-4) * std::sqrt(half) - 2.33;
      if (p > std::erfc(std::max(z, 0.0) / std::sqrt(2.0))) continue;
      for (const int commit : {low, high}) {
        const int have = static_cast<int>(values[commit].size());
        const int other = static_cast<int>(values[commit == low ? high : low].size());
        if (have <= other && have < 160) wanted[commit] = std::min(have, 160 - have);
      }
    }
  }
  return out;
}

}  // namespace nightjar::test
