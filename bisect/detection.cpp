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

constexpr double least_judged = .1;

std::vector<double> judged_values(std::span<const double> values, const DetectionPolicy& policy) {
  std::vector<double> out;
  for (const double value : values) {
    const double judged = judged_value(value, policy);
    if (!(judged > 0 && std::isfinite(judged)))
      throw std::invalid_argument("detection needs positive, finite values");
    out.push_back(judged);
  }
  return out;
}

std::vector<double> logs_of(std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  return values;
}

// Whether two locations differ by so little that nobody cares, whatever the ratio. The least change
// of a slope is in its judged value.
bool is_below_floor(double before, double after, const DetectionPolicy& policy) {
  return policy.repeatability != Repeatability::slope &&
         std::abs(after - before) < policy.least_change;
}

// The ratio bad/good, inverted if need be, so that over 1 is worse.
Ratio worsening(const Ratio& change, Direction direction) {
  if (direction == Direction::lower_is_better) return change;
  return {1 / change.ratio, 1 / change.high, 1 / change.low};
}

// What a level says against its reference, if the logs of their ratio have this error.
ScreenVerdict first_verdict(double reference, double level, double error,
                            const DetectionPolicy& policy) {
  const double ratio = judged_value(level, policy) / judged_value(reference, policy);
  if (std::abs(std::log(ratio)) <= policy.screen_z * error ||
      is_below_floor(reference, level, policy))
    return ScreenVerdict::same;
  const bool higher = policy.direction == Direction::higher_is_better;
  const double worse = higher ? 1 / ratio : ratio;
  if (worse - 1 > policy.screen_change) return ScreenVerdict::suspect_worse;
  return 1 / worse - 1 > policy.screen_change ? ScreenVerdict::suspect_better : ScreenVerdict::same;
}

// A level without what the machine did to it: a slower machine makes times longer, and rates lower.
double less_moved(double level, double moved, const DetectionPolicy& policy) {
  return level * std::exp(policy.direction == Direction::higher_is_better ? moved : -moved);
}

std::string sentence(const char* what, const Ratio& worse, int runs, double threshold) {
  char text[240];
  std::snprintf(text, sizeof text,
                "%s: %+.1f %% worse (%+.1f to %+.1f %%) over %d runs a side, threshold %.1f %%",
                what, 100 * (worse.ratio - 1), 100 * (worse.low - 1), 100 * (worse.high - 1), runs,
                100 * threshold);
  return text;
}

std::string percent_text(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g %%", 100 * share);
  return text;
}

}  // namespace

double judged_value(double value, const DetectionPolicy& policy) {
  if (policy.repeatability != Repeatability::slope || policy.least_change <= 0) return value;
  return std::max(least_judged, 1 + policy.threshold * value / policy.least_change);
}

double cost_of(double value, const DetectionPolicy& policy) {
  const double judged = judged_value(value, policy);
  return policy.direction == Direction::higher_is_better ? 1 / judged : judged;
}

double searched_cost(double value, const DetectionPolicy& policy, bool is_better) {
  const double cost = cost_of(value, policy);
  return is_better ? 1 / cost : cost;
}

DetectionPolicy policy_of_metric(std::string_view metric, double threshold) {
  DetectionPolicy policy;
  policy.threshold = threshold;
  if (const Metric* known = find_metric(metric)) {
    policy.direction = known->direction;
    policy.repeatability = known->repeatability;
    policy.least_change = known->least_change;
  }
  return policy;
}

bool is_judged(const DetectionPolicy& policy) {
  return policy.repeatability != Repeatability::slope || policy.least_change > 0;
}

std::span<const int> ladder(Repeatability repeatability) {
  if (repeatability == Repeatability::steady) return steady_ladder;
  return noisy_ladder;
}

Screen screen(std::span<const double> levels, std::span<const double> tonight,
              const DetectionPolicy& policy, std::span<const ControlReading> controls) {
  Screen out;
  out.level = hodges_lehmann(tonight);
  out.reference = out.level;
  if (levels.empty()) {
    out.verdict = Screen::Verdict::first_night;
    return out;
  }
  const auto trailing = levels.first(std::min(levels.size(), levels_used));
  out.reference = hodges_lehmann(trailing);
  if (!is_judged(policy)) return out;
  const auto night = logs_of(judged_values(tonight, policy)),
             history = logs_of(judged_values(trailing, policy));
  const double n = static_cast<double>(night.size()), k = static_cast<double>(history.size());
  // The median-based estimate's efficiency: 1.1 times the variance of a mean.
  const double within = 1.1 * std::pow(robust_sd(night), 2) / n;
  const double between = history.size() < 3 ? within : std::pow(robust_sd(history), 2);
  const double error =
      std::max(least_error, std::sqrt(std::max(within, between) + 1.1 * between / k));
  out.change = judged_value(out.level, policy) / judged_value(out.reference, policy) - 1;
  out.z = std::log1p(out.change) / error;
  out.verdict = first_verdict(out.reference, out.level, error, policy);
  const bool stands =
      std::all_of(controls.begin(), controls.end(), [&](const ControlReading& control) {
        const double level = less_moved(out.level, control.moved.value_or(0), policy);
        return first_verdict(out.reference, level, std::hypot(error, control.unrest.value_or(0)),
                             policy) == out.verdict;
      });
  if (!stands && out.verdict != Screen::Verdict::same) out.verdict = Screen::Verdict::unclear;
  return out;
}

Confirmation confirm(std::span<const double> good, std::span<const double> bad,
                     const DetectionPolicy& policy, RunsToCome to_come) {
  using Verdict = Confirmation::Verdict;
  Confirmation out;
  if (!is_judged(policy)) {
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
  const auto before = judged_values(good, policy), after = judged_values(bad, policy);
  out.change = shift(before, after, policy.confidence);
  const Ratio worse = worsening(out.change, policy.direction);
  const double worse_from = 1 + policy.threshold, half = 1 + policy.threshold / 2;
  const bool narrow = worse.high / worse.low - 1 < policy.interval_points;
  const bool large = runs >= enough_for_large && worse.low > 1 + 2 * policy.threshold;
  const bool few = used_up && next != rungs.end() && !narrow;
  // Below what the series can show, half of the threshold is not enough.
  const bool shown = worse.ratio >= 1 + policy.smallest_shown;
  const double bound = shown ? half : worse_from;
  const bool certain =
      !few || worsening(shift(before, after, strict), policy.direction).low > bound;
  auto decide = [&](Verdict verdict, const char* what) {
    out.verdict = verdict;
    out.rule = sentence(what, worse, runs, policy.threshold);
    if (verdict != Verdict::more) out.runs_a_side = runs;
  };
  if (worse.high < worse_from) {
    const bool better = worse.ratio * worse_from <= 1 && worse.high * half < 1;
    decide(better ? Verdict::better : Verdict::same,
           better ? "better by more than the threshold" : "the interval lies under the threshold");
  } else if (worse.ratio >= worse_from && worse.low > bound && certain &&
             (narrow || large || used_up)) {
    const bool counts = !is_below_floor(hodges_lehmann(good), hodges_lehmann(bad), policy);
    decide(counts ? Verdict::worse : Verdict::same,
           counts ? "worse by more than the threshold"
                  : "worse by more than the threshold, but by less than the least change");
  } else if (used_up) {
    decide(Verdict::inconclusive,
           "all runs used up and the interval still holds the threshold or is too wide");
    if (!shown)
      out.rule +=
          "; smallest change seen with probability .9 here: " + percent_text(policy.smallest_shown);
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
