#include "bisect/reliability.hpp"

#include <algorithm>
#include <array>

#include "bisect/calibration.hpp"

namespace nightjar::bisect {
namespace {

constexpr std::array begins = {0., .1, .25, .5, .75, .9, .99};

}  // namespace

std::size_t probability_bin(double probability) {
  const auto* next = std::upper_bound(begins.begin() + 1, begins.end(), probability);
  return static_cast<std::size_t>(next - begins.begin()) - 1;
}

std::vector<Reliability> reliability(std::span<const Prediction> predictions) {
  std::vector<Reliability> bins(begins.size());
  for (const Prediction& prediction : predictions) {
    Reliability& bin = bins[probability_bin(prediction.probability)];
    ++bin.cases;
    bin.right += prediction.right;
    bin.stated += prediction.probability;
  }
  for (std::size_t i = 0; i < bins.size(); ++i) {
    bins[i].from = begins[i];
    bins[i].to = i + 1 < begins.size() ? begins[i + 1] : 1;
    if (bins[i].cases > 0) bins[i].stated /= bins[i].cases;
    bins[i].interval = binomial_interval(bins[i].right, bins[i].cases, .95);
  }
  return bins;
}

}  // namespace nightjar::bisect
