#include "bisect/noise_class.hpp"

#include <algorithm>
#include <cmath>

namespace nightjar::bisect {
namespace {

constexpr int enough_repeats = 12;
constexpr double quiet_sd = .015, ordinary_sd = .04, noisy_sd = .075;

NoiseClass class_of(double sd) {
  if (sd <= quiet_sd) return NoiseClass::quiet;
  if (sd <= ordinary_sd) return NoiseClass::ordinary;
  return sd <= noisy_sd ? NoiseClass::noisy : NoiseClass::wild;
}

}  // namespace

SeriesNoise series_noise(std::span<const std::vector<double>> builds) {
  std::vector<double> differences;  // of pairs of one build, so that no location is fitted
  int free = 0;
  for (const std::vector<double>& runs : builds) {
    for (std::size_t i = 0; i < runs.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        differences.push_back(std::abs(std::log(runs[i] / runs[j])));
    free += std::max(0, static_cast<int>(runs.size()) - 1);
  }
  if (free < enough_repeats) return {};
  const double sd = 1.4826 / std::sqrt(2) * median(differences);
  return {class_of(sd), sd};
}

int runs_a_night(NoiseClass kind, int usual) {
  switch (kind) {
    case NoiseClass::quiet:
      return std::max(std::min(3, usual), usual * 3 / 5);
    case NoiseClass::noisy:
      return 2 * usual;
    case NoiseClass::wild:
      return 4 * usual;
    case NoiseClass::unknown:
    case NoiseClass::ordinary:
      break;
  }
  return usual;
}

DetectionPolicy adapted(DetectionPolicy policy, const SeriesNoise& noise) {
  if (noise.kind != NoiseClass::wild) return policy;
  policy.threshold = std::max(policy.threshold, noise.sd);
  policy.screen_change = std::max(policy.screen_change, noise.sd / 2);
  return policy;
}

}  // namespace nightjar::bisect
