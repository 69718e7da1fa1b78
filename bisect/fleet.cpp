#include "bisect/fleet.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "bisect/ladder.hpp"

namespace nightjar::bisect {
namespace {

// A steady metric is decided on ten runs a side, which are not evidence enough among thousands of
// suspects. So its ladder goes on for the bar.
constexpr std::array steady_rungs = {3, 5, 10, 20, 40};

std::span<const int> rungs_of(Repeatability repeatability) {
  return repeatability == Repeatability::steady ? steady_rungs : ladder(repeatability);
}

// P(bad is worse in a pair) - 1/2, for which q is near the best by the normal approximation. Values
// over 1/2 approach "in every pair", which is worth most in small blocks.
constexpr std::array effects = {.15, .3, .6, 1.2, 2.4};

double log_expm1(double x) {
  return x + std::log1p(-std::exp(-x));
}

// Minus the log of the mean of q^U: log(C(2n, n) / [2n choose n]_q), q = exp(theta).
double log_correction(int n, double theta) {
  double out = 0;
  for (int i = 1; i <= n; ++i) {
    out += std::log(static_cast<double>(n + i) / i);
    out -= log_expm1((n + i) * theta) - log_expm1(i * theta);
  }
  return out;
}

// Pairs in which `bad` is worse by more than the factor; ties as half.
double pairs_worse(std::span<const double> good, std::span<const double> bad, double factor,
                   const DetectionPolicy& policy) {
  const bool lower = policy.direction == Direction::lower_is_better;
  double pairs = 0;
  for (const double one : good)
    for (const double other : bad) {
      const double before = judged_value(one, policy), after = judged_value(other, policy);
      const double worse = lower ? after / before : before / after;
      pairs += worse > factor ? 1 : worse < factor ? 0 : .5;
    }
  return pairs;
}

}  // namespace

double evidence_of_worse(std::span<const double> good, std::span<const double> bad, double margin,
                         const DetectionPolicy& policy) {
  std::array<double, effects.size()> logs{};
  std::size_t from = 0;
  for (const int rung : rungs_of(policy.repeatability)) {
    const auto to = static_cast<std::size_t>(rung);
    if (to > std::min(good.size(), bad.size())) break;
    const int n = static_cast<int>(to - from);
    const double pairs = pairs_worse(good.subspan(from, to - from), bad.subspan(from, to - from),
                                     1 + margin, policy);
    for (std::size_t i = 0; i < effects.size(); ++i) {
      // The mean of U moves by n^2 effect, and its variance is n^2 (2n + 1) / 12.
      const double theta = 12 * effects[i] / (2 * n + 1);
      logs[i] += theta * pairs + log_correction(n, theta);
    }
    from = to;
  }
  double sum = 0;
  for (const double each : logs) sum += std::exp(each);
  return sum / static_cast<double>(effects.size());
}

double NightBar::evidence() const {
  return suspects / (share * (confirmed + 1));
}

FleetConfirmation confirm(std::span<const double> good, std::span<const double> bad,
                          const DetectionPolicy& policy, const NightBar& bar) {
  using Verdict = Confirmation::Verdict;
  FleetConfirmation out{confirm(good, bad, policy)};
  Confirmation& said = out.confirmation;
  out.evidence = evidence_of_worse(good, bad, policy.threshold / 2, policy);
  if (said.verdict != Verdict::worse || out.evidence >= bar.evidence()) return out;
  const auto rungs = rungs_of(policy.repeatability);
  const auto next = std::upper_bound(rungs.begin(), rungs.end(), said.runs_a_side);
  said.verdict = next == rungs.end() ? Verdict::inconclusive : Verdict::more;
  if (next != rungs.end()) said.runs_a_side = *next;
  char text[120];
  std::snprintf(text, sizeof text, "; evidence %.3g, and the night's %d suspects ask for %.3g",
                out.evidence, bar.suspects, bar.evidence());
  said.rule += text;
  return out;
}

}  // namespace nightjar::bisect
