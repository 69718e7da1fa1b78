#include "bisect/against_first.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace nightjar::bisect {
namespace {

// The variance of single runs, on logs. Each run that repeats another of its group is a degree of
// freedom.
struct Pooled {
  double sum_of_squares = 0;
  int freedom = 0;
  double variance() const { return sum_of_squares / freedom; }
};

Pooled pooled(std::span<const std::vector<double>> groups) {
  Pooled all;
  for (const auto& group : groups) {
    if (group.empty()) continue;
    std::vector<double> logs(group.size());
    std::transform(group.begin(), group.end(), logs.begin(),
                   [](double value) { return std::log(value); });
    const double mean =
        std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
    for (const double value : logs) all.sum_of_squares += (value - mean) * (value - mean);
    all.freedom += static_cast<int>(logs.size()) - 1;
  }
  return all;
}

}  // namespace

std::vector<std::optional<Ratio>> against_first(std::span<const std::vector<double>> groups,
                                                double confidence) {
  std::vector<std::optional<Ratio>> ratios(groups.size());
  if (groups.empty() || groups.front().empty()) return ratios;
  for (const auto& group : groups)
    if (std::any_of(group.begin(), group.end(), [](double value) { return !(value > 0); }))
      return ratios;
  const Pooled noise = pooled(groups);
  if (noise.freedom < 2) return ratios;
  const double quantile =
      boost::math::quantile(boost::math::students_t(noise.freedom), (1 + confidence) / 2);
  const double first = hodges_lehmann(groups.front());
  for (std::size_t i = 1; i < groups.size(); ++i) {
    if (groups[i].empty()) continue;
    const double ratio = hodges_lehmann(groups[i]) / first;
    const double runs = 1.0 / static_cast<double>(groups[i].size()) +
                        1.0 / static_cast<double>(groups.front().size());
    const double reach = std::exp(quantile * std::sqrt(noise.variance() * runs));
    ratios[i] = Ratio{ratio, ratio / reach, ratio * reach};
  }
  return ratios;
}

}  // namespace nightjar::bisect
