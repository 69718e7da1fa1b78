#include "bisect/attribution.hpp"

#include <cmath>
#include <vector>

#include "bisect/statistics.hpp"

namespace nightjar::bisect {
namespace {

constexpr double normal = 1.959964;  // of a two-sided interval at .95

// On logs.
struct Effect {
  double value = 0, sd = 0;
  double low() const { return value - normal * sd; }
  double high() const { return value + normal * sd; }
};

Effect effect(std::span<const double> before, std::span<const double> after) {
  const Ratio change = shift(before, after, .95);
  return {std::log(change.ratio), (std::log(change.high) - std::log(change.low)) / (2 * normal)};
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

// Turns it into a cost: above 0 is worse.
Effect worse_of(const Effect& effect, const DetectionPolicy& policy) {
  return policy.direction == Direction::higher_is_better ? Effect{-effect.value, effect.sd}
                                                         : effect;
}

enum class Presence { there, absent, open };

Presence presence(const Effect& worse, double least) {
  if (worse.low() > 0 && worse.value >= least) return Presence::there;
  return worse.high() < least ? Presence::absent : Presence::open;
}

// Names the cause from the presence of both parts.
Cause cause_of(Presence source, Presence other, OtherFactor factor) {
  const bool wheel = factor == OtherFactor::wheel;
  if (source == Presence::there && other == Presence::there)
    return wheel ? Cause::source_and_wheel : Cause::both;
  if (source == Presence::there && (other == Presence::absent || wheel)) return Cause::source;
  if (source == Presence::absent && other == Presence::there)
    return wheel ? Cause::wheel : Cause::environment;
  return Cause::unknown;
}

bool runs_mixed(const Cells& cells) {
  return !cells.source.empty() || !cells.other.empty();
}

// How the rule calls the other factor.
struct Words {
  const char* name;
  const char* no_source;
  const char* no_other;
  const char* neither;
};

const Words& words_of(OtherFactor factor) {
  static const Words packages{
      "the packages", "; the new build does not run with the old packages",
      "; the old build does not run with the new packages",
      "neither build runs with the other's packages, so the two cannot be told apart"};
  static const Words wheel{
      "the wheel", "; the new Python files do not run on the old wheel",
      "; the old Python files do not run on the new wheel",
      "neither wheel runs with the other's Python files, so the two cannot be told apart"};
  return factor == OtherFactor::wheel ? wheel : packages;
}

std::string rule_of(Cause cause, const Cells& cells, OtherFactor factor) {
  const Words& words = words_of(factor);
  const std::string name = words.name;
  const std::string alone = cells.source.empty()  ? words.no_source
                            : cells.other.empty() ? words.no_other
                                                  : "";
  if (cause == Cause::unknown)
    return "the runs do not tell how much of it is the source's and how much " + name + "'" +
           (factor == OtherFactor::wheel ? "s" : "") + alone;
  if (!has_source(cause)) return name + " changed it, and the source did not" + alone;
  if (cause == Cause::source) return "the source changed it, and " + name + " did not" + alone;
  return "both the source and " + name + " changed it" + alone;
}

AttributionVerdict not_told_apart(OtherFactor factor) {
  AttributionVerdict verdict;
  verdict.other = factor;
  verdict.rule = words_of(factor).neither;
  return verdict;
}

void set_parts(Attribution& attribution, const Effect& source, const Effect& other,
               OtherFactor factor) {
  attribution.source = part_of(source);
  (factor == OtherFactor::wheel ? attribution.wheel : attribution.environment) = part_of(other);
}

AttributionVerdict verdict_of(const Effect& source, const Effect& other, const Cells& cells,
                              const DetectionPolicy& policy, OtherFactor factor) {
  AttributionVerdict verdict;
  verdict.other = factor;
  const double least = std::log1p(policy.threshold) / 2;
  const Presence a = presence(worse_of(source, policy), least);
  const Presence b = presence(worse_of(other, policy), least);
  verdict.attribution.cause = cause_of(a, b, factor);
  set_parts(verdict.attribution, source, other, factor);
  // What the source did is searched for on one wheel, so the other's part need not be known.
  const bool known = factor == OtherFactor::wheel && a == Presence::there;
  verdict.more = a == Presence::open || (b == Presence::open && !known);
  verdict.rule = known && b == Presence::open
                     ? "the source changed it; what the wheel did is not clear"
                     : rule_of(verdict.attribution.cause, cells, factor);
  return verdict;
}

}  // namespace

AttributionVerdict attribute(const Cells& cells, const DetectionPolicy& policy,
                             OtherFactor factor) {
  if (!runs_mixed(cells)) return not_told_apart(factor);
  std::vector<Effect> source, other;
  if (!cells.source.empty()) {
    source.push_back(effect(cells.good, cells.source));
    other.push_back(effect(cells.source, cells.bad));
  }
  if (!cells.other.empty()) {
    source.push_back(effect(cells.other, cells.bad));
    other.push_back(effect(cells.good, cells.other));
  }
  return verdict_of(mean(source), mean(other), cells, policy, factor);
}

AttributionVerdict attribute_failure(const Cells& cells, const DetectionPolicy& policy,
                                     OtherFactor factor) {
  AttributionVerdict verdict = not_told_apart(factor);
  if (runs_mixed(cells)) {
    const Effect source =
        cells.source.empty() ? effect(cells.other, cells.bad) : effect(cells.good, cells.source);
    const Effect other =
        cells.other.empty() ? effect(cells.source, cells.bad) : effect(cells.good, cells.other);
    verdict = verdict_of(source, other, cells, policy, factor);
    if (verdict.attribution.cause == Cause::unknown && !verdict.more)
      verdict.rule = std::string("it fails only with the new source and the new ") +
                     (factor == OtherFactor::wheel ? "wheel" : "packages") + " together";
  }
  verdict.of_failure = true;
  return verdict;
}

AttributionVerdict attribute_to_wheel(std::span<const double> good, std::span<const double> bad) {
  AttributionVerdict verdict;
  verdict.other = OtherFactor::wheel;
  verdict.same_source = true;
  verdict.attribution.cause = Cause::wheel;
  verdict.attribution.wheel = part_of(effect(good, bad));
  verdict.rule = "the wheel changed it: no file of the source differs between the builds";
  return verdict;
}

}  // namespace nightjar::bisect
