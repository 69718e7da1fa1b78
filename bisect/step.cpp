#include "bisect/step.hpp"

#include <algorithm>
#include <vector>

#include "bisect/change_points.hpp"

namespace nightjar::bisect {
namespace {

// A step in units of the scatter of positions. Builds that have one of two speeds, and series that
// wander, have steps that are significant and no larger than their scatter.
constexpr double least_scatters = 1;

std::vector<double> exponentials(std::span<const double> logs) {
  std::vector<double> out;
  for (const double value : logs) out.push_back(std::exp(value));
  return out;
}

double scatter(std::span<const double> before, std::span<const double> after) {
  std::vector<double> rest;
  for (const auto values : {before, after}) {
    const double middle = median(values);
    for (const double value : values) rest.push_back(value - middle);
  }
  return robust_sd(rest);
}

// Whether as many values as make a level lie nearer to their own side's median than to the other's.
bool holds_level(std::span<const double> own, std::span<const double> other) {
  const double here = median(own), there = median(other);
  return std::count_if(own.begin(), own.end(), [&](double value) {
           return std::abs(value - here) < std::abs(value - there);
         }) >= shortest_level;
}

bool is_clear(const JudgedStep& step, double threshold) {
  const double bound = step.rises() ? std::log(step.ratio.low) : -std::log(step.ratio.high);
  const bool reaches = step.size() >= std::log1p(threshold);
  return bound > (reaches ? std::log1p(threshold / 2) : 0);
}

}  // namespace

JudgedStep judge_step(std::span<const double> before, std::span<const double> after,
                      const DetectionPolicy& policy) {
  const auto low = exponentials(before), high = exponentials(after);
  JudgedStep out;
  out.p = mann_whitney_p(before, after);
  out.ratio = shift(low, high, policy.confidence);
  out.before = hodges_lehmann(low);
  out.after = hodges_lehmann(high);
  out.stands = is_clear(out, policy.threshold) &&
               out.size() >= least_scatters * scatter(before, after) &&
               holds_level(before, after) && holds_level(after, before);
  return out;
}

}  // namespace nightjar::bisect
