// Both stages of a night's detection.
#include "bisect/detection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "bisect/ladder.hpp"

namespace nightjar::bisect {
namespace {

constexpr std::array noisy_ladder = {5, 10, 20, 40, 80, 120};
constexpr std::array steady_ladder = {3, 5, 10};
constexpr std::size_t levels_used = 14;
constexpr double least_error = .001;  // no level is known better than .1 %
constexpr int enough_for_large = 10;
constexpr double strict = .99;  // confidence where no more runs will come

std::vector<double> logs_of(std::span<const double> values) {
  std::vector<double> out;
  for (double value : values) {
    if (!(value > 0 && std::isfinite(value))) {
      throw std::invalid_argument("detection needs positive, finite values");
    }
    out.push_back(std::log(value));
  }
  return out;
}

// The ratio bad/good, inverted if need be, so that over 1 is worse.
Ratio worsening(const Ratio& change, Direction direction) {
  if (direction == Direction::lower_is_better) return change;
  return {1 / change.ratio, 1 / change.high, 1 / change.low};
}

std::string sentence(const char* what, const Ratio& worse, int runs, double threshold) {
  char text[240];
  std::snprintf(text, sizeof text,
                "%s: %+.1f %% worse (%+.1f to %+.1f %%) over %d runs a side, threshold %.1f %%",
                what, 100 * (worse.ratio - 1), 100 * (worse.low - 1), 100 * (worse.high - 1), runs,
                100 * threshold);
  return text;
}

}  // namespace

std::span<const int> ladder(Repeatability repeatability) {
  if (repeatability == Repeatability::steady) return steady_ladder;
  return noisy_ladder;
}

Screen screen(std::span<const double> levels, std::span<const double> tonight,
              const DetectionPolicy& policy) {
  Screen out;
  out.level = hodges_lehmann(tonight);
  out.reference = out.level;
  if (levels.empty()) {
    out.verdict = Screen::Verdict::first_night;
    return out;
  }
  const auto trailing = levels.first(std::min(levels.size(), levels_used));
  out.reference = hodges_lehmann(trailing);
  if (policy.repeatability == Repeatability::slope) return out;
  const auto night = logs_of(tonight), history = logs_of(trailing);
  const double n = static_cast<double>(night.size()), k = static_cast<double>(history.size());
  // The median-based estimate's efficiency: 1.1 times the variance of a mean.
  const double within = 1.1 * std::pow(robust_sd(night), 2) / n;
  const double between = history.size() < 3 ? within : std::pow(robust_sd(history), 2);
  const double error = std::sqrt(std::max(within, between) + 1.1 * between / k);
  out.change = out.level / out.reference - 1;
  out.z = std::log(out.level / out.reference) / std::max(error, least_error);
  const bool higher = policy.direction == Direction::higher_is_better;
  const double worse = higher ? out.reference / out.level - 1 : out.change;
  const double better = higher ? out.change : out.reference / out.level - 1;
  if (std::abs(out.z) > policy.screen_z) {
    if (worse > policy.screen_change) out.verdict = Screen::Verdict::suspect_worse;
    if (better > policy.screen_change) out.verdict = Screen::Verdict::suspect_better;
  }
  return out;
}

Confirmation confirm(std::span<const double> good, std::span<const double> bad,
                     const DetectionPolicy& policy, RunsToCome to_come) {
  using Verdict = Confirmation::Verdict;
  Confirmation out;
  if (policy.repeatability == Repeatability::slope) {
    out.verdict = Verdict::inconclusive;
    out.rule = "a slope near zero has no ratio: it is recorded, and not judged";
    return out;
  }
  const auto rungs = ladder(policy.repeatability);
  const int runs = static_cast<int>(std::min(good.size(), bad.size()));
  const auto next = std::upper_bound(rungs.begin(), rungs.end(), runs);
  const bool used_up =
      next == rungs.end() || (to_come == RunsToCome::none && runs >= rungs.front());
  out.runs_a_side = used_up ? runs : *next;
  if (runs < rungs.front()) {
    out.rule = "measuring: too few runs to say anything";
    return out;
  }
  out.change = shift(good, bad, policy.confidence);
  const Ratio worse = worsening(out.change, policy.direction);
  const double worse_from = 1 + policy.threshold, half = 1 + policy.threshold / 2;
  const bool narrow = worse.high / worse.low - 1 < policy.interval_points;
  const bool large = runs >= enough_for_large && worse.low > 1 + 2 * policy.threshold;
  const bool few = used_up && next != rungs.end() && !narrow;
  const bool certain = !few || worsening(shift(good, bad, strict), policy.direction).low > half;
  auto decide = [&](Verdict verdict, const char* what) {
    out.verdict = verdict;
    out.rule = sentence(what, worse, runs, policy.threshold);
    if (verdict != Verdict::more) out.runs_a_side = runs;
  };
  if (worse.high < worse_from) {
    const bool better = worse.ratio * worse_from <= 1 && worse.high * half < 1;
    decide(better ? Verdict::better : Verdict::same,
           better ? "better by more than the threshold" : "the interval lies under the threshold");
  } else if (worse.ratio >= worse_from && worse.low > half && certain &&
             (narrow || large || used_up)) {
    decide(Verdict::worse, "worse by more than the threshold");
  } else if (used_up) {
    decide(Verdict::inconclusive,
           "all runs used up and the interval still holds the threshold or is too wide");
  } else {
    decide(Verdict::more, "measuring: the interval still holds the threshold or is too wide");
  }
  return out;
}

DifferenceVerdict judge_difference(std::span<const double> good, std::span<const double> bad,
                                   double least, double confidence) {
  using Verdict = Confirmation::Verdict;
  DifferenceVerdict out{Verdict::inconclusive, difference(good, bad, confidence)};
  if (std::min(good.size(), bad.size()) < static_cast<std::size_t>(noisy_ladder.front()))
    return out;
  const auto [value, low, high] = out.difference;
  if (high < least) {
    out.verdict = value <= -least && high < -least / 2 ? Verdict::better : Verdict::same;
  } else if (value >= least && low > least / 2) {
    out.verdict = Verdict::worse;
  }
  return out;
}

}  // namespace nightjar::bisect
