#include "bisect/attribution.hpp"

#include <cmath>
#include <vector>

#include "bisect/statistics.hpp"

namespace nightjar::bisect {
namespace {

constexpr double kNormal = 1.959964;  // of a two-sided interval at .95

// On logs.
struct Effect {
  double value = 0, sd = 0;
  double low() const { return value - kNormal * sd; }
  double high() const { return value + kNormal * sd; }
};

Effect effect(std::span<const double> before, std::span<const double> after) {
  const Ratio change = shift(before, after, .95);
  return {std::log(change.ratio), (std::log(change.high) - std::log(change.low)) / (2 * kNormal)};
}

Effect mean(const std::vector<Effect>& ways) {
  Effect all;
  double variance = 0;
  for (const Effect& way : ways) {
    all.value += way.value / static_cast<double>(ways.size());
    variance += way.sd * way.sd;
  }
  all.sd = std::sqrt(variance) / static_cast<double>(ways.size());
  return all;
}

Part part_of(const Effect& effect) {
  return {std::exp(effect.value), std::exp(effect.low()), std::exp(effect.high())};
}

// As a cost: above 0 is worse.
Effect worse_of(const Effect& effect, const DetectionPolicy& policy) {
  return policy.direction == Direction::higher_is_better ? Effect{-effect.value, effect.sd}
                                                         : effect;
}

enum class Presence { there, absent, open };

Presence presence(const Effect& worse, double least) {
  if (worse.low() > 0 && worse.value >= least) return Presence::there;
  return worse.high() < least ? Presence::absent : Presence::open;
}

// What is said where both parts are known.
Cause cause_of(Presence source, Presence environment) {
  if (source == Presence::there && environment == Presence::there) return Cause::both;
  if (source == Presence::there && environment == Presence::absent) return Cause::source;
  if (source == Presence::absent && environment == Presence::there) return Cause::environment;
  return Cause::unknown;
}

bool runs_mixed(const Cells& cells) {
  return !cells.source.empty() || !cells.environment.empty();
}

std::string rule_of(Cause cause, const Cells& cells) {
  const std::string alone =
      cells.source.empty()        ? "; the new build does not run with the old packages"
      : cells.environment.empty() ? "; the old build does not run with the new packages"
                                  : "";
  switch (cause) {
    case Cause::source:
      return "the source changed it, and the packages did not" + alone;
    case Cause::environment:
      return "the packages changed it, and the source did not" + alone;
    case Cause::both:
      return "both the source and the packages changed it" + alone;
    case Cause::unknown:
      break;
  }
  return "the runs do not tell how much of it is the source's and how much the packages'" + alone;
}

AttributionVerdict not_told_apart() {
  AttributionVerdict verdict;
  verdict.rule = "neither build runs with the other's packages, so the two cannot be told apart";
  return verdict;
}

AttributionVerdict verdict_of(const Effect& source, const Effect& environment, const Cells& cells,
                              const DetectionPolicy& policy) {
  AttributionVerdict verdict;
  const double least = std::log1p(policy.threshold) / 2;
  const Presence a = presence(worse_of(source, policy), least);
  const Presence b = presence(worse_of(environment, policy), least);
  verdict.attribution = {cause_of(a, b), part_of(source), part_of(environment)};
  verdict.more = a == Presence::open || b == Presence::open;
  verdict.rule = rule_of(verdict.attribution.cause, cells);
  return verdict;
}

}  // namespace

AttributionVerdict attribute(const Cells& cells, const DetectionPolicy& policy) {
  if (!runs_mixed(cells)) return not_told_apart();
  std::vector<Effect> source, environment;
  if (!cells.source.empty()) {
    source.push_back(effect(cells.good, cells.source));
    environment.push_back(effect(cells.source, cells.bad));
  }
  if (!cells.environment.empty()) {
    source.push_back(effect(cells.environment, cells.bad));
    environment.push_back(effect(cells.good, cells.environment));
  }
  return verdict_of(mean(source), mean(environment), cells, policy);
}

AttributionVerdict attribute_failure(const Cells& cells, const DetectionPolicy& policy) {
  AttributionVerdict verdict = not_told_apart();
  if (runs_mixed(cells)) {
    const Effect source = cells.source.empty() ? effect(cells.environment, cells.bad)
                                               : effect(cells.good, cells.source);
    const Effect environment = cells.environment.empty() ? effect(cells.source, cells.bad)
                                                         : effect(cells.good, cells.environment);
    verdict = verdict_of(source, environment, cells, policy);
    if (verdict.attribution.cause == Cause::unknown && !verdict.more)
      verdict.rule = "it fails only with the new source and the new packages together";
  }
  verdict.of_failure = true;
  return verdict;
}

}  // namespace nightjar::bisect
