// Optimal partitioning (Jackson et al. 2005) with the L1 cost. The best cost so far is kept for
// each value that a level's median can have, as functional pruning does (Maidstone et al. 2017), so
// no segment's median is ever computed.
#include "bisect/partition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "bisect/statistics.hpp"

namespace nightjar::bisect {
namespace {

constexpr std::size_t most_medians = 2000;
// Mean of |x - y| for two standard normal values: of its lower three quarters, and of all.
constexpr double normal_lower_mean = .7282, normal_mean = 1.1284;

std::vector<double> possible_medians(std::span<const double> values) {
  std::vector<double> all(values.begin(), values.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() <= most_medians) return all;
  std::vector<double> some;
  for (std::size_t i = 0; i < most_medians; ++i)
    some.push_back(all[i * (all.size() - 1) / (most_medians - 1)]);
  return some;
}

// The best partitions of the values so far whose last level has each of the possible medians.
class LevelCosts {
 public:
  explicit LevelCosts(std::vector<double> medians)
      : medians_(std::move(medians)),
        costs_(medians_.size(), std::numeric_limits<double>::infinity()),
        begins_(medians_.size(), 0) {}

  void add(double value) {
    for (std::size_t i = 0; i < medians_.size(); ++i) costs_[i] += std::abs(value - medians_[i]);
  }

  // The last level may be `level`, which begins at `begin`; all before it costs `before`.
  void offer(std::span<const double> level, int begin, double before) {
    for (std::size_t i = 0; i < medians_.size(); ++i) {
      double cost = before;
      for (const double value : level) cost += std::abs(value - medians_[i]);
      const bool better = cost < costs_[i];
      costs_[i] = better ? cost : costs_[i];
      begins_[i] = better ? begin : begins_[i];
    }
  }

  std::size_t best() const {
    return static_cast<std::size_t>(std::min_element(costs_.begin(), costs_.end()) -
                                    costs_.begin());
  }
  double cost(std::size_t median) const { return costs_[median]; }
  int begin(std::size_t median) const { return begins_[median]; }

 private:
  std::vector<double> medians_, costs_;
  std::vector<int> begins_;
};

double deviations(std::span<const double> values) {
  const double middle = median(values);
  double sum = 0;
  for (const double value : values) sum += std::abs(value - middle);
  return sum;
}

// Where the last level ends, if the values from there on are apart at the least cost.
int end_of_levels(std::span<const double> values, const std::vector<double>& least, int shortest,
                  double penalty) {
  std::size_t best = values.size();
  double cost = least[best];
  for (std::size_t apart = 1; apart < static_cast<std::size_t>(shortest); ++apart) {
    const std::size_t to = values.size() - apart;
    const double here = least[to] + penalty + deviations(values.last(apart));
    if (here >= cost) continue;
    cost = here;
    best = to;
  }
  return static_cast<int>(best);
}

}  // namespace

double neighbour_sd(std::span<const double> values) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < values.size(); ++i)
    steps.push_back(std::abs(values[i] - values[i - 1]));
  if (steps.empty()) return 0;
  std::sort(steps.begin(), steps.end());
  const auto lower = static_cast<std::ptrdiff_t>((3 * steps.size() + 3) / 4);
  const double smooth = std::accumulate(steps.begin(), steps.begin() + lower, 0.0) /
                        static_cast<double>(lower) / normal_lower_mean;
  const auto unequal = std::upper_bound(steps.begin(), steps.end(), 0.0);
  if (unequal == steps.end()) return 0;
  const auto changes = steps.end() - unequal;
  const double share = static_cast<double>(changes) / static_cast<double>(steps.size());
  return std::max(smooth, share * unequal[(changes - 1) / 2] / normal_mean);
}

Partition optimal_partition(std::span<const double> values, int shortest, double penalty) {
  const int size = static_cast<int>(values.size());
  if (size < 2 * shortest) return {{0}, 0, size};
  LevelCosts level_costs(possible_medians(values));
  // For the first `to` values: the least cost, and where the last level begins.
  std::vector<double> least(values.size() + 1);
  std::vector<int> begins(values.size() + 1, 0);
  least[0] = -penalty;
  for (int to = 1; to <= size; ++to) {
    const auto end = static_cast<std::size_t>(to);
    level_costs.add(values[end - 1]);
    if (to < shortest) {
      least[end] = deviations(values.first(end));
      continue;
    }
    const int begin = to - shortest;
    const auto first = static_cast<std::size_t>(begin);
    level_costs.offer(values.subspan(first, end - first), begin, least[first] + penalty);
    const std::size_t best = level_costs.best();
    least[end] = level_costs.cost(best);
    begins[end] = level_costs.begin(best);
  }
  Partition out;
  out.to = end_of_levels(values, least, shortest, penalty);
  int to = out.to;
  for (; to >= shortest; to = out.begins.back())
    out.begins.push_back(begins[static_cast<std::size_t>(to)]);
  out.from = to;
  std::reverse(out.begins.begin(), out.begins.end());
  return out;
}

}  // namespace nightjar::bisect
