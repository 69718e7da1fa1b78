#include "service/report/quantity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "storage/model/metric.hpp"

namespace nightjar::service {
namespace {

std::string fixed(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

// Four significant digits of a number that is shown beside others of about `scale`.
std::string significant(double value, double scale) {
  const double size = std::fabs(scale);
  return fixed(value, size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

struct Unit {
  double size;
  std::string_view name;
};
constexpr std::array<Unit, 4> time_units{{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}};
constexpr std::array<Unit, 4> byte_units{
    {{1073741824., "GiB"}, {1048576., "MiB"}, {1024., "KiB"}, {1, "bytes"}}};

// The largest unit of which `scale` holds at least one; the smallest one for zero.
Unit unit_for(const std::array<Unit, 4>& units, double scale) {
  const auto it = std::find_if(units.begin(), units.end(),
                               [&](const Unit& unit) { return std::fabs(scale) >= unit.size; });
  return it == units.end() ? units.back() : *it;
}

std::string signed_percent(double ratio, int decimals) {
  if (ratio >= 3) return "×" + fixed(ratio, 1);
  std::string text = fixed((ratio - 1) * 100, decimals);
  if (text == "-0.0") text = "0.0";
  return (text.starts_with('-') ? "" : "+") + text + " %";
}

}  // namespace

std::string metric_title(std::string_view metric) {
  std::string title(metric);
  std::replace(title.begin(), title.end(), '_', ' ');
  for (const auto& [lower, upper] :
       {std::pair<std::string_view, std::string_view>{"cpu", "CPU"}, {"gpu", "GPU"}}) {
    const auto at = title.find(lower);
    if (at != std::string::npos) title.replace(at, lower.size(), upper);
  }
  return title;
}

std::string quantity(std::string_view metric, double value, double scale) {
  if (metric == failures_metric) {
    const double share = (value - 1) / (failed_value - 1);
    return share < .01   ? "passes"
           : share > .99 ? "fails"
                         : "fails in " + fixed(100 * share, 0) + " %";
  }
  const Metric* known = find_metric(metric);
  if (!known) return significant(value, scale);
  const bool bytes = known->unit.starts_with("bytes");
  if (!bytes && known->unit != "s") {
    return significant(value, scale) + " " + std::string(known->unit);
  }
  const Unit unit = unit_for(bytes ? byte_units : time_units, scale);
  std::string text =
      significant(value / unit.size, scale / unit.size) + " " + std::string(unit.name);
  const auto slash = known->unit.find('/');
  if (slash != std::string_view::npos) text += known->unit.substr(slash);
  return text;
}

std::string change(double ratio) {
  const bool coarse = std::fabs(ratio - 1) >= .0995;
  return signed_percent(ratio, coarse ? 0 : 1);
}

std::string change_interval(double low, double high) {
  return signed_percent(low, 1) + " to " + signed_percent(high, 1);
}

bool has_no_ratio(std::string_view metric) {
  const Metric* known = find_metric(metric);
  return known && (known->repeatability == Repeatability::slope || metric == failures_metric);
}

StepSize size_of_step(std::string_view metric, const StepSize& cost) {
  const Metric* known = find_metric(metric);
  if (!known || known->direction == Direction::lower_is_better) return cost;
  return {1 / cost.ratio, 1 / cost.high, 1 / cost.low};
}

std::string change_of(std::string_view metric, double before, double after, double ratio) {
  if (metric == failures_metric) return quantity(metric, after);
  if (!has_no_ratio(metric)) return change(ratio);
  const std::string text = quantity(metric, after - before);
  return (text.starts_with('-') ? "" : "+") + text;
}

std::string probability(double value) {
  if (value > .999) return "> 99.9 %";
  if (value < .001) return "< 0.1 %";
  return fixed(value * 100, 1) + " %";
}

}  // namespace nightjar::service
