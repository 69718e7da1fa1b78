#include "bisect/profile_diff.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "bisect/statistics.hpp"
#include "storage/model/run_value.hpp"

namespace nightjar::bisect {
namespace {

using PerIteration = std::vector<double>;
constexpr double kSmallest = 0.01, kSmallestOnDevice = 0.0025;

// Between the quartiles of the undisturbed iterations of the only run that has any.
PerIteration middle_half(const std::vector<PerIteration>& runs, const Profile& profile) {
  for (std::size_t run = 0; run < runs.size(); ++run) {
    PerIteration kept = undisturbed(runs[run], {}, profile.runs[run].slowdown);
    if (kept.empty()) continue;
    std::sort(kept.begin(), kept.end());
    const auto quarter = kept.size() / 4;
    return {kept[quarter], kept[kept.size() - 1 - quarter]};
  }
  return {};
}

Side profile_side(const std::vector<PerIteration>& runs, const Profile& profile, double calls) {
  Side side;
  side.calls = calls;
  PerIteration values = values_of(profile, runs);
  if (values.empty()) return side;
  side.seconds = median(values);
  if (values.size() == 1) values = middle_half(runs, profile);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  side.low = *low;
  side.high = *high;
  return side;
}

std::vector<PerIteration> of_runs(const Profile& profile, PerIteration ProfileRun::*list) {
  std::vector<PerIteration> lists;
  for (const ProfileRun& run : profile.runs) lists.push_back(run.*list);
  return lists;
}

using SideTable = std::map<std::pair<std::string, bool>, Side>;

SideTable side_table(const Profile& profile) {
  SideTable table;
  for (const OperatorProfile& one : profile.operators) {
    table[{one.name, false}] = profile_side(one.self_seconds, profile, one.calls);
    const Side device = profile_side(one.device_seconds, profile, one.calls);
    if (device.seconds > 0) table[{one.name, true}] = device;
  }
  table[{kOutside, false}] =
      profile_side(of_runs(profile, &ProfileRun::outside_seconds), profile, 0);
  return table;
}

SideTable on_device(const SideTable& table) {
  SideTable kept;
  for (const auto& [key, side] : table)
    if (key.second) kept.emplace(key, side);
  return kept;
}

// Over all operators.
Side device_side(const Profile& profile) {
  std::vector<PerIteration> sums(profile.runs.size());
  for (const OperatorProfile& one : profile.operators)
    for (std::size_t run = 0; run < one.device_seconds.size(); ++run) {
      const PerIteration& seconds = one.device_seconds[run];
      sums[run].resize(std::max(sums[run].size(), seconds.size()));
      for (std::size_t i = 0; i < seconds.size(); ++i) sums[run][i] += seconds[i];
    }
  return profile_side(sums, profile, 0);
}

bool is_apart(const Side& before, const Side& after, double smallest) {
  const bool apart = after.low > before.high || after.high < before.low;
  return apart && std::abs(after.seconds - before.seconds) >= smallest;
}

ChangeKind change_kind(const Side& before, const Side& after) {
  const bool was = before.calls > 0 || before.seconds > 0,
             is = after.calls > 0 || after.seconds > 0;
  if (!was) return ChangeKind::appeared;
  if (!is) return ChangeKind::vanished;
  return after.seconds > before.seconds ? ChangeKind::slower : ChangeKind::faster;
}

// What operators are a part of.
struct Whole {
  const Side &before, &after;
  double smallest;  // share of `before` that counts
  std::size_t runs;
};

std::vector<OperatorChange> changes_of(SideTable old, SideTable now, const Whole& whole) {
  std::vector<OperatorChange> changes;
  for (const auto& [key, side] : now) old.try_emplace(key);
  const double change = whole.after.seconds - whole.before.seconds;
  for (const auto& [key, side] : old) {
    const Side& later = now[key];
    const bool apart =
        whole.runs > 0 && is_apart(side, later, whole.smallest * whole.before.seconds);
    if (!apart && side.calls == later.calls) continue;
    const bool clear = apart && whole.runs >= kFewestRuns;
    const double share = change != 0 ? (later.seconds - side.seconds) / change : 0;
    changes.push_back(
        {key.first, key.second, change_kind(side, later), apart, clear, side, later, share});
  }
  std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) {
    if (a.apart != b.apart) return a.apart;
    return std::abs(a.after.seconds - a.before.seconds) >
           std::abs(b.after.seconds - b.before.seconds);
  });
  return changes;
}

std::vector<MemoryChange> memory_changes(const Profile& before, const Profile& after) {
  std::vector<MemoryChange> changes;
  if (!before.memory || !after.memory) return changes;
  const auto old = parts_of(*before.memory), now = parts_of(*after.memory);
  for (std::size_t i = 0; i < now.size(); ++i)
    changes.push_back({now[i].first, old[i].second, now[i].second});
  return changes;
}

}  // namespace

ProfileDiff difference(const Profile& before, const Profile& after) {
  ProfileDiff diff;
  diff.workload = after.workload;
  const auto whole_before = of_runs(before, &ProfileRun::iteration_seconds);
  const auto whole_after = of_runs(after, &ProfileRun::iteration_seconds);
  diff.runs =
      std::min(values_of(before, whole_before).size(), values_of(after, whole_after).size());
  diff.before = profile_side(whole_before, before, 0);
  diff.after = profile_side(whole_after, after, 0);
  diff.memory = memory_changes(before, after);
  diff.device_before = device_side(before);
  diff.device_after = device_side(after);
  const SideTable old = side_table(before), now = side_table(after);
  diff.changes = changes_of(old, now, {diff.before, diff.after, kSmallest, diff.runs});
  diff.kernels = changes_of(on_device(old), on_device(now),
                            {diff.device_before, diff.device_after, kSmallestOnDevice, diff.runs});
  return diff;
}

}  // namespace nightjar::bisect
