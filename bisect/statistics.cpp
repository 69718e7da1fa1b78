// Location and shift by medians of pairs.
#include "bisect/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "bisect/rank_tests.hpp"

namespace nightjar::bisect {
namespace {

constexpr std::size_t most_values = 2000;  // the number of pairs grows with the square

double median_of(std::vector<double>& values) {
  const std::size_t half = values.size() / 2;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(half);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

// The value of 1-based rank `rank`. Reorders `values`.
double ranked(std::vector<double>& values, long long rank) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

std::vector<double> thinned(std::span<const double> values) {
  std::vector<double> all(values.begin(), values.end());
  if (all.size() <= most_values) return all;
  std::sort(all.begin(), all.end());
  std::vector<double> some(most_values);
  for (std::size_t i = 0; i < most_values; ++i) {
    some[i] = all[(2 * i + 1) * all.size() / (2 * most_values)];
  }
  return some;
}

std::vector<double> walsh_averages(std::span<const double> values) {
  const auto some = thinned(values);
  std::vector<double> averages;
  averages.reserve(some.size() * (some.size() + 1) / 2);
  for (std::size_t i = 0; i < some.size(); ++i) {
    for (std::size_t j = i; j < some.size(); ++j) averages.push_back((some[i] + some[j]) / 2);
  }
  return averages;
}

std::vector<double> logs(std::span<const double> values) {
  std::vector<double> out;
  out.reserve(values.size());
  for (double value : values) {
    if (!(value > 0)) throw std::invalid_argument("a ratio needs positive values");
    out.push_back(std::log(value));
  }
  return out;
}

void require_confidence(double confidence) {
  if (!(confidence > 0 && confidence < 1)) {
    throw std::invalid_argument("confidence must lie between 0 and 1");
  }
}

}  // namespace

void require_values(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("statistics need at least one value");
  for (double value : values) {
    if (!std::isfinite(value)) throw std::invalid_argument("statistics need finite values");
  }
}

double median(std::span<const double> values) {
  require_values(values);
  std::vector<double> copy(values.begin(), values.end());
  return median_of(copy);
}

double robust_sd(std::span<const double> values) {
  const double middle = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (double value : values) deviations.push_back(std::abs(value - middle));
  return 1.4826 * median_of(deviations);
}

double sd_of_logs(const std::vector<std::vector<double>>& groups) {
  double squares = 0;
  std::size_t degrees = 0;
  for (const auto& values : groups) {
    if (values.empty()) continue;
    double mean = 0;
    for (const double value : values) mean += std::log(value) / static_cast<double>(values.size());
    for (const double value : values) squares += std::pow(std::log(value) - mean, 2);
    degrees += values.size() - 1;
  }
  return degrees ? std::sqrt(squares / static_cast<double>(degrees)) : 0;
}

double hodges_lehmann(std::span<const double> values) {
  require_values(values);
  auto averages = walsh_averages(values);
  return median_of(averages);
}

Interval hodges_lehmann_interval(std::span<const double> values, double confidence) {
  require_values(values);
  require_confidence(confidence);
  auto averages = walsh_averages(values);
  const auto count = static_cast<long long>(averages.size());
  const auto used = static_cast<long long>(std::min(values.size(), most_values));
  const long long rank = signed_rank_bound(used, confidence);
  return {ranked(averages, rank), ranked(averages, count + 1 - rank)};
}

Difference difference(std::span<const double> before, std::span<const double> after,
                      double confidence) {
  require_values(before);
  require_values(after);
  require_confidence(confidence);
  const auto a = thinned(before), b = thinned(after);
  std::vector<double> differences;
  differences.reserve(a.size() * b.size());
  for (double x : a) {
    for (double y : b) differences.push_back(y - x);
  }
  const auto count = static_cast<long long>(differences.size());
  const long long rank = mann_whitney_bound(static_cast<long long>(a.size()),
                                            static_cast<long long>(b.size()), confidence);
  return {median_of(differences), ranked(differences, rank), ranked(differences, count + 1 - rank)};
}

Ratio shift(std::span<const double> before, std::span<const double> after, double confidence) {
  require_values(before);
  require_values(after);
  const Difference change = difference(logs(thinned(before)), logs(thinned(after)), confidence);
  return {std::exp(change.value), std::exp(change.low), std::exp(change.high)};
}

}  // namespace nightjar::bisect
