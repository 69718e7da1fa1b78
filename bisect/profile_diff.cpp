#include "bisect/profile_diff.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "bisect/statistics.hpp"
#include "storage/model/run_value.hpp"

namespace nightjar::bisect {
namespace {

using PerIteration = std::vector<double>;
constexpr double kSmallest = 0.01;

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

bool is_apart(const Side& before, const Side& after, double iteration) {
  const bool apart = after.low > before.high || after.high < before.low;
  return apart && std::abs(after.seconds - before.seconds) >= kSmallest * iteration;
}

ChangeKind change_kind(const Side& before, const Side& after) {
  const bool was = before.calls > 0 || before.seconds > 0,
             is = after.calls > 0 || after.seconds > 0;
  if (!was) return ChangeKind::appeared;
  if (!is) return ChangeKind::vanished;
  return after.seconds > before.seconds ? ChangeKind::slower : ChangeKind::faster;
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
  SideTable old = side_table(before), now = side_table(after);
  for (const auto& [key, side] : now) old.try_emplace(key);
  const double whole = diff.after.seconds - diff.before.seconds;
  for (const auto& [key, side] : old) {
    const Side& later = now[key];
    const bool apart = diff.runs > 0 && is_apart(side, later, diff.before.seconds);
    if (!apart && side.calls == later.calls) continue;
    const bool clear = apart && diff.runs >= kFewestRuns;
    const double share = whole != 0 ? (later.seconds - side.seconds) / whole : 0;
    diff.changes.push_back(
        {key.first, key.second, change_kind(side, later), apart, clear, side, later, share});
  }
  std::stable_sort(diff.changes.begin(), diff.changes.end(), [](const auto& a, const auto& b) {
    if (a.apart != b.apart) return a.apart;
    return std::abs(a.after.seconds - a.before.seconds) >
           std::abs(b.after.seconds - b.before.seconds);
  });
  return diff;
}

}  // namespace nightjar::bisect
