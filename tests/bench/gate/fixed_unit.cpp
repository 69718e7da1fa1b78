// What the gate compiles beside a unit of ours: the same standard headers, and code that never
// changes. A slower or newer compiler changes both.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

namespace fixed_unit {

struct Row {
  std::int64_t id = 0;
  std::string name;
  std::optional<double> value;
  std::vector<double> samples;
};

std::map<std::string, std::vector<Row>> by_name(std::span<const Row> rows) {
  std::map<std::string, std::vector<Row>> found;
  for (const Row& row : rows) found[row.name].push_back(row);
  for (auto& [name, group] : found)
    std::sort(group.begin(), group.end(), [](const Row& a, const Row& b) {
      return std::tie(a.id, a.name) < std::tie(b.id, b.name);
    });
  return found;
}

std::set<std::tuple<std::int64_t, std::string>> keys(std::span<const Row> rows) {
  std::set<std::tuple<std::int64_t, std::string>> found;
  for (const Row& row : rows)
    if (!found.emplace(row.id, row.name).second) throw std::invalid_argument("twice: " + row.name);
  return found;
}

double sum(std::span<const Row> rows, const std::function<double(double)>& weight) {
  double total = 0;
  for (const Row& row : rows)
    for (const double sample : row.samples) total += weight(row.value.value_or(sample));
  return total;
}

}  // namespace fixed_unit
