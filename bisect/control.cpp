#include "bisect/control.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "bisect/statistics.hpp"
#include "storage/model/metric.hpp"

namespace nightjar::bisect {
namespace {
constexpr std::size_t enough_nights = 5;
constexpr std::size_t nights_that_stay = 2;  // moved alike before tonight: no accident any more

double away(double one, double other) {
  return std::abs(std::log(one / other));
}
}  // namespace

std::optional<ControlReading> read_control(Gauge gauge, std::span<const double> runs,
                                           std::span<const EarlierControl> before) {
  if (runs.size() < 2) return std::nullopt;
  ControlReading reading{gauge, sd_of_logs({std::vector(runs.begin(), runs.end())})};
  std::map<NightId, std::vector<double>> nights;
  std::vector<double> locations, variances;
  for (const EarlierControl& one : before) {
    if (one.gauge != gauge) continue;
    nights[one.night].push_back(one.location);
    locations.push_back(one.location);
    variances.push_back(one.within * one.within);
  }
  if (nights.size() < enough_nights) return reading;
  const double tonight = median(runs), usual = median(locations);
  std::vector<double> last;
  for (auto night = nights.rbegin(); last.size() < nights_that_stay; ++night)
    last.push_back(median(night->second));
  const bool stays = std::all_of(last.begin(), last.end(), [&](double location) {
    return away(location, tonight) < away(location, usual);
  });
  reading.moved = std::log(tonight / (stays ? median(last) : usual));
  std::sort(variances.begin(), variances.end());
  const double usually_below = variances[(variances.size() - 1) * 9 / 10];
  reading.unrest = std::sqrt(std::max(0., reading.within * reading.within - usually_below));
  return reading;
}

bool moves_with(Gauge gauge, std::string_view metric, std::string_view device) {
  const Metric* known = find_metric(metric);
  if (!known || known->unit != "s") return false;
  if (gauge == Gauge::cpu) return metric != "kernel_time";
  return device != "cpu" && metric != "compile_time" && metric != "warm_compile_time";
}

}  // namespace nightjar::bisect
