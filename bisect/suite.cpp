#include "bisect/suite.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace nightjar::bisect {
namespace {

constexpr std::size_t nights_of_level = 14;  // as many as a series' level is held against
constexpr double sigmas = 3.5;
constexpr double confidence = .95;
constexpr std::size_t most_carriers = 5;

bool is_suspect(SuiteVerdict verdict) {
  return verdict == SuiteVerdict::suspect_worse || verdict == SuiteVerdict::suspect_better;
}

bool begins_level(SuiteVerdict verdict) {
  return verdict == SuiteVerdict::worse || verdict == SuiteVerdict::better;
}

// Since the mean moved last, newest first. A suspicion that the next night did not share is left
// out; one that it shared is the first night of the new level.
std::vector<const NightMean*> level_nights(std::span<const NightMean> earlier) {
  std::vector<const NightMean*> nights;
  for (std::size_t i = 0; i < earlier.size() && nights.size() < nights_of_level; ++i) {
    if (is_suspect(earlier[i].verdict)) continue;
    nights.push_back(&earlier[i]);
    if (!begins_level(earlier[i].verdict)) continue;
    if (i + 1 < earlier.size()) nights.push_back(&earlier[i + 1]);
    break;
  }
  return nights;
}

// What each of the members is on these nights; members that none of them has are left out.
Members usual_values(const std::vector<const NightMean*>& nights, const Members& members) {
  Members usual;
  for (const auto& [member, value] : members) {
    std::vector<double> values;
    for (const NightMean* night : nights)
      if (const auto found = night->members.find(member); found != night->members.end())
        values.push_back(found->second);
    if (!values.empty()) usual[member] = median(values);
  }
  return usual;
}

// `values`, where `usual` has none.
Members completed(Members usual, const Members& values) {
  usual.insert(values.begin(), values.end());
  return usual;
}

Members only(const Members& values, const Members& of) {
  Members some;
  for (const auto& [member, value] : values)
    if (of.contains(member)) some[member] = value;
  return some;
}

std::vector<WorkloadId> missing_in(const Members& others, const Members& members) {
  std::vector<WorkloadId> missing;
  for (const auto& [member, value] : members)
    if (!others.contains(member)) missing.push_back(member);
  return missing;
}

// Leaves out nights of a step, which do not show the noise, and the newest suspicion, which is not
// decided yet.
std::optional<double> allowed_change(std::span<const NightMean> earlier, const MeanPolicy& policy) {
  double squares = 0;
  std::size_t nights = 0;
  for (std::size_t i = 0; i < earlier.size(); ++i) {
    const bool is_step = begins_level(earlier[i].verdict) ||
                         (i > 0 && begins_level(earlier[i - 1].verdict)) ||
                         (i == 0 && is_suspect(earlier[i].verdict));
    if (is_step || !earlier[i].ratio) continue;
    squares += std::pow(std::log(*earlier[i].ratio), 2);
    ++nights;
  }
  if (nights < enough_nights) return std::nullopt;
  return std::max(policy.least, sigmas * std::sqrt(squares / static_cast<double>(nights)));
}

bool exceeds(double ratio, double allowed) {
  return std::abs(std::log(ratio)) > std::log1p(allowed);
}

// By how far they are from their usual value, the furthest first.
std::vector<WorkloadId> carriers_of(const Members& tonight, const Members& usual, double allowed,
                                    const MeanPolicy& policy) {
  std::vector<WorkloadId> order;
  for (const auto& [member, value] : usual) order.push_back(member);
  const auto distance = [&](WorkloadId member) {
    return std::abs(std::log(tonight.at(member) / usual.at(member)));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](WorkloadId a, WorkloadId b) { return distance(a) > distance(b); });
  Members values = only(tonight, usual), before = usual;
  std::vector<WorkloadId> carriers;
  for (const WorkloadId member : order) {
    if (values.empty() || carriers.size() == most_carriers) break;
    if (!exceeds(mean_of(values, policy) / mean_of(before, policy), allowed)) break;
    carriers.push_back(member);
    values.erase(member);
    before.erase(member);
  }
  return carriers;
}

Ratio change_of(const Members& tonight, const Members& usual) {
  std::vector<double> ratios;
  for (const auto& [member, value] : usual) ratios.push_back(std::log(tonight.at(member) / value));
  const Interval interval = hodges_lehmann_interval(ratios, confidence);
  return {std::exp(hodges_lehmann(ratios)), std::exp(interval.low), std::exp(interval.high)};
}

bool is_clear(const MeanVerdict& verdict) {
  return verdict.allowed && verdict.compared >= enough_members &&
         (verdict.change->low > 1 || verdict.change->high < 1) &&
         exceeds(verdict.change->ratio, *verdict.allowed);
}

// By how much those that were there before moved the mean; 1 without any.
double explained(const Members& tonight, const Members& usual, const MeanPolicy& policy) {
  return usual.empty() ? 1 : mean_of(only(tonight, usual), policy) / mean_of(usual, policy);
}

// Judges a change that counts: a verdict if the night before suspected it, else a suspicion.
SuiteVerdict direction_of(double ratio, const MeanPolicy& policy, SuiteVerdict night_before) {
  using enum SuiteVerdict;
  const bool is_worse = (ratio < 1) == (policy.direction == Direction::higher_is_better);
  const SuiteVerdict suspicion = is_worse ? suspect_worse : suspect_better;
  if (night_before != suspicion) return suspicion;
  return is_worse ? worse : better;
}

}  // namespace

bool passes(std::string_view accuracy, std::optional<double> speedup, bool eager) {
  if (accuracy == "pass_due_to_skip") return true;
  if (speedup && !(*speedup > 0)) return false;
  if (accuracy.empty()) return speedup.has_value();
  return accuracy == "pass" || accuracy == "eager_variation" || eager;
}

MeanOver geometric_mean(const std::vector<double>& values) {
  if (values.empty()) return {};
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return {std::exp(sum / static_cast<double>(values.size())), values.size()};
}

MeanOver arithmetic_mean(const std::vector<double>& values) {
  if (values.empty()) return {};
  double sum = 0;
  for (const double value : values) sum += value;
  return {sum / static_cast<double>(values.size()), values.size()};
}

MeanPolicy policy_of(SuiteMeasure measure) {
  switch (measure) {
    case SuiteMeasure::speedup:
      return {};
    case SuiteMeasure::compile_time:
      return {false, Direction::lower_is_better, .05};
    case SuiteMeasure::cpu_compression:
    case SuiteMeasure::gpu_compression:
      break;
  }
  return {false, Direction::higher_is_better, .02};
}

double mean_of(const Members& members, const MeanPolicy& policy) {
  std::vector<double> values;
  for (const auto& [member, value] : members) values.push_back(value);
  const MeanOver mean = policy.is_geometric ? geometric_mean(values) : arithmetic_mean(values);
  if (!mean.value) throw std::invalid_argument("there is no mean of no members");
  return *mean.value;
}

MeanVerdict judge_mean(std::span<const NightMean> earlier, const Members& tonight,
                       const MeanPolicy& policy) {
  MeanVerdict out;
  const double value = mean_of(tonight, policy);
  const auto nights = level_nights(earlier);
  if (nights.empty()) {
    out.level = value;
    return out;
  }
  const NightMean& before = earlier.front();
  const Members usual = usual_values(nights, tonight);
  out.verdict = SuiteVerdict::same;
  out.compared = usual.size();
  out.came = missing_in(before.members, tonight);
  out.went = missing_in(tonight, before.members);
  out.level = mean_of(completed(usual, tonight), policy);
  out.moved = value / before.level;
  out.allowed = allowed_change(earlier, policy);
  if (!usual.empty()) out.change = change_of(tonight, usual);
  if (is_clear(out)) {
    out.verdict = direction_of(out.change->ratio, policy, before.verdict);
    if (begins_level(out.verdict)) {
      const NightMean now{tonight, value, out.verdict, {}};
      const std::vector<const NightMean*> both{&now, &before};
      out.level = mean_of(usual_values(both, tonight), policy);
    }
    return out;
  }
  const double least = out.allowed.value_or(policy.least);
  const bool same_members = out.came.empty() && out.went.empty();
  if (!same_members && exceeds(out.moved, least) &&
      std::abs(std::log(explained(tonight, usual, policy))) < std::abs(std::log(out.moved)) / 2)
    out.verdict = SuiteVerdict::members_changed;
  else if (out.allowed)
    out.carried_by = carriers_of(tonight, usual, *out.allowed, policy);
  return out;
}

}  // namespace nightjar::bisect
