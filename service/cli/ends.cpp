#include "service/cli/ends.hpp"

#include <algorithm>
#include <cmath>

#include "bisect/power.hpp"

namespace nightjar::cli {
namespace {

constexpr double certainty = .99;
constexpr std::size_t fewest_certain = 5;  // of fewer a side no interval is so certain

std::vector<double> values_of(const std::vector<bisect::SearchRun>& runs, int commit) {
  std::vector<double> values;
  for (const auto& run : runs)
    if (run.commit == commit) values.push_back(run.value);
  return values;
}

}  // namespace

std::optional<LevelEstimate> level_of(const std::vector<bisect::SearchRun>& runs, int commit) {
  const auto values = values_of(runs, commit);
  if (values.empty()) return std::nullopt;
  const auto [low, high] = bisect::hodges_lehmann_interval(values, confidence);
  return LevelEstimate{bisect::hodges_lehmann(values), low, high, static_cast<int>(values.size())};
}

std::optional<Ends> ends_of(const bisect::SearchLog& log, bool seeks_less) {
  const auto good = level_of(log.runs, 0), bad = level_of(log.runs, log.commits);
  if (!good || !bad || good->runs < 2 || bad->runs < 2) return std::nullopt;
  const auto change =
      bisect::shift(values_of(log.runs, 0), values_of(log.runs, log.commits), confidence);
  const double smallest =
      bisect::smallest_seen(change, good->runs, bad->runs, confidence, stated_power);
  return Ends{*good, *bad, change, seeks_less ? 1 / smallest : smallest};
}

std::optional<LevelEstimate> failure_rate_of(const std::vector<bisect::SearchRun>& runs, int first,
                                             int last) {
  constexpr double normal = 1.959964;  // quantile of confidence
  int all = 0, failed = 0;
  for (const auto& run : runs) {
    if (run.commit < first || run.commit > last) continue;
    ++all;
    failed += run.value > 0;
  }
  if (all == 0) return std::nullopt;
  const double n = all, rate = failed / n, square = normal * normal / n;
  const double centre = (rate + square / 2) / (1 + square);
  const double half = normal / (1 + square) * std::sqrt(rate * (1 - rate) / n + square / (4 * n));
  // Rounding must not put the rate itself outside.
  return LevelEstimate{rate, std::clamp(centre - half, 0.0, rate),
                       std::clamp(centre + half, rate, 1.0), all};
}

double smallest_rate_seen(int runs) {
  return 1 - std::pow(1 - stated_power, 1.0 / runs);
}

std::optional<Ends> failure_ends_of(const bisect::SearchLog& log) {
  const auto good = failure_rate_of(log.runs, 0, 0);
  const auto bad = failure_rate_of(log.runs, log.commits, log.commits);
  if (!good || !bad) return std::nullopt;
  return Ends{*good, *bad, {}};
}

bool differ_below(const bisect::SearchLog& log, bool seeks_less, double threshold) {
  const auto costs = as_costs(log, seeks_less);
  const auto good = values_of(costs.runs, 0), bad = values_of(costs.runs, costs.commits);
  if (good.size() < fewest_certain || bad.size() < fewest_certain) return false;
  const auto change = bisect::shift(good, bad, certainty);
  return change.low > 1 && change.high < 1 + threshold;
}

bisect::SearchLog as_costs(bisect::SearchLog log, bool seeks_less) {
  if (seeks_less)
    for (auto& run : log.runs) run.value = 1 / run.value;
  return log;
}

bisect::Ratio measured_ratio(const bisect::Ratio& cost, bool seeks_less) {
  return seeks_less ? bisect::Ratio{1 / cost.ratio, 1 / cost.high, 1 / cost.low} : cost;
}

}  // namespace nightjar::cli
