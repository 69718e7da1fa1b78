// Suites by the definitions of PyTorch's compiler dashboard (docs/formats.md), and whether the mean
// of a suite moved. A mean moves because its members did, or because other models are in it: the
// judgement tells which. Pure; used when a night ends, and by `nightjar summary`.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bisect/statistics.hpp"
#include "storage/model/id.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/suite.hpp"

namespace nightjar::bisect {

// Whether a model passes, as pytorch/test-infra's torchci/lib/benchmark/compilerUtils.ts has it:
// accuracy is pass, pass_due_to_skip or eager_variation (of backend eager: any), and the speed-up
// is not 0, but for pass_due_to_skip. Without an accuracy (empty): that it has a speed-up.
bool passes(std::string_view accuracy, std::optional<double> speedup, bool eager);

// A mean, and over how many models it was taken; nullopt over none.
struct MeanOver {
  std::optional<double> value;
  std::size_t models = 0;
};
MeanOver geometric_mean(const std::vector<double>& values);  // of positive values
MeanOver arithmetic_mean(const std::vector<double>& values);

// How a measure is averaged, and the least change of it that counts, as a share.
struct MeanPolicy {
  bool is_geometric = true;
  Direction direction = Direction::higher_is_better;
  double least = .02;
};
MeanPolicy policy_of(SuiteMeasure measure);

using Members = std::map<WorkloadId, double>;  // positive values; never empty
double mean_of(const Members& members, const MeanPolicy& policy);

// A mean of an earlier night, with what was said of it.
struct NightMean {
  Members members;
  double level = 0;
  SuiteVerdict verdict = SuiteVerdict::first_night;
  std::optional<double> ratio;  // of the members compared
};

struct MeanVerdict {
  SuiteVerdict verdict = SuiteVerdict::first_night;
  double level = 0;             // of tonight's members
  double moved = 1;             // tonight's mean over the level of the night before
  std::optional<Ratio> change;  // of the members compared, tonight over their level
  std::size_t compared = 0;
  std::optional<double> allowed;       // nullopt: the noise of nights is not known yet
  std::vector<WorkloadId> came, went;  // against the night before
  // With the verdict `same`: the members without which the mean would not have moved.
  std::vector<WorkloadId> carried_by;
};

// Number of earlier nights that are considered.
inline constexpr int nights_of_mean = 30;
// With fewer nights their noise is not known. With fewer members there is no 95 % interval.
inline constexpr std::size_t enough_nights = 8, enough_members = 6;

// Holds tonight's members against the nights before, newest first. The level of a member is its
// median over up to 14 nights since the mean moved last. The change is the Hodges-Lehmann location
// of the members' log ratios, its interval the one of the signed ranks over members. It counts if
// the interval excludes 1, and if it is larger than `allowed`: 3.5 times the root mean square of
// earlier nights' changes, since what moves all members of a night alike is in no interval.
// No confirmation follows, so two nights in a row must show it; the first is a suspicion. With too
// few nights or members there is neither. Otherwise the mean moved because its members changed if
// those that were there before explain less than half of it.
// Assumes that nights are independent. Not seen: what creeps in over weeks.
// Simulated: 3 verdicts in 288,000 quiet nights; with 3 in place of 3.5 there were 18.
MeanVerdict judge_mean(std::span<const NightMean> earlier, const Members& tonight,
                       const MeanPolicy& policy);

}  // namespace nightjar::bisect
