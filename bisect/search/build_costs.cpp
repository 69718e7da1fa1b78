#include "bisect/search/build_costs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "bisect/statistics.hpp"

namespace nightjar::bisect {
namespace {

constexpr BuildSeconds usual_seconds{60, 5400, 900, 5};
constexpr double prior_builds = 2;
constexpr std::size_t newest_builds = 20;

// How much longer this machine takes than `usual`, as a log; 0 where nothing was seen.
struct Slowness {
  double log = 0;
  double builds = 0;
};

Slowness slowness(std::span<const PastBuild> past, BuildPlace place) {
  std::vector<double> logs;
  for (auto build = past.rbegin(); build != past.rend() && logs.size() < newest_builds; ++build)
    if (build->place == place) logs.push_back(std::log(build->seconds / usual_seconds.of(place)));
  if (logs.empty()) return {};
  return {median(logs), static_cast<double>(logs.size())};
}

double drawn(const Slowness& seen, double towards) {
  return (seen.builds * seen.log + prior_builds * towards) / (seen.builds + prior_builds);
}

}  // namespace

double BuildSeconds::of(BuildPlace place) const {
  switch (place) {
    case BuildPlace::fetch:
      return fetch;
    case BuildPlace::source_cold:
      return source_cold;
    case BuildPlace::source_warm:
      return source_warm;
    case BuildPlace::overlay:
      break;
  }
  return overlay;
}

BuildSeconds expected_build_seconds(std::span<const PastBuild> past) {
  for (const PastBuild& build : past)
    if (!std::isfinite(build.seconds) || build.seconds <= 0)
      throw std::invalid_argument("past builds: a time is not positive and finite");
  const Slowness cold = slowness(past, BuildPlace::source_cold);
  const Slowness warm = slowness(past, BuildPlace::source_warm);
  const auto seconds = [&](BuildPlace place, const Slowness& seen, double towards) {
    return usual_seconds.of(place) * std::exp(drawn(seen, towards));
  };
  const auto alone = [&](BuildPlace place) { return seconds(place, slowness(past, place), 0); };
  return {alone(BuildPlace::fetch), seconds(BuildPlace::source_cold, cold, drawn(warm, 0)),
          seconds(BuildPlace::source_warm, warm, drawn(cold, 0)), alone(BuildPlace::overlay)};
}

}  // namespace nightjar::bisect
