#include "harness/statistics.hpp"

#include <algorithm>

namespace nightjar::workloads {
namespace {

constexpr std::size_t leak_points = 200;

}  // namespace

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double leak_slope(const std::vector<std::int64_t>& resident) {
  const std::size_t count = resident.size();
  if (count < 2) return 0;
  const std::size_t step = std::max<std::size_t>(1, (count + leak_points - 1) / leak_points);
  const std::size_t points = (count + step - 1) / step;
  const std::size_t reach = std::max<std::size_t>(1, points / 3) * step;
  std::vector<double> slopes;
  for (std::size_t i = 0; i < count; i += step)
    for (std::size_t j = i + step; j < count && j - i <= reach; j += step)
      slopes.push_back(static_cast<double>(resident[j] - resident[i]) / static_cast<double>(j - i));
  return slopes.empty() ? 0 : median(std::move(slopes));
}

}  // namespace nightjar::workloads
