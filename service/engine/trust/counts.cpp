#include "service/engine/trust/counts.hpp"

#include <set>

#include "bisect/calibration.hpp"

namespace nightjar::service {
namespace {

bool was_judged(const Observation& observed) {
  return !observed.suspicious && !observed.same_build && !observed.unclear() &&
         !observed.levels.empty();
}

std::optional<SmallestSeen> smallest_of(const std::vector<Observation>& group) {
  std::vector<double> changes;
  for (const Observation& one : group) {
    if (!was_judged(one) || one.noise.kind == bisect::NoiseClass::unknown) continue;
    const bisect::Scatter scatter{one.noise.sd, bisect::nights_sd(one.level_values, one.policy),
                                  static_cast<int>(one.tonight.values.size())};
    changes.push_back(bisect::smallest_seen(scatter, one.policy));
  }
  if (changes.empty()) return std::nullopt;
  const bisect::Typical typical = bisect::typical(std::move(changes));
  return SmallestSeen{typical.values, typical.median, typical.low, typical.high};
}

}  // namespace

std::vector<Judged> count_judged(const Observations& observed, const ScreeningVerdicts& verdicts,
                                 Time now) {
  std::set<SeriesId> suspects;
  for (const Suspicion& suspicion : verdicts.suspicions)
    suspects.insert(suspicion.regression.series.front().series);
  std::vector<Judged> all;
  for (const auto& [group, series] : observed) {
    Judged counted;
    counted.machine = group.first;
    counted.metric = group.second;
    counted.since = now;
    counted.nights = 1;
    for (const Observation& one : series) {
      counted.series_nights += was_judged(one);
      counted.suspicions += suspects.count(one.series.id) != 0;
    }
    counted.smallest = smallest_of(series);
    all.push_back(std::move(counted));
  }
  return all;
}

}  // namespace nightjar::service
