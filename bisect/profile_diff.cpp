#include "bisect/profile_diff.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "bisect/operator_times.hpp"
#include "bisect/statistics.hpp"
#include "storage/model/run_value.hpp"

namespace nightjar::bisect {
namespace {

using PerIteration = std::vector<double>;
constexpr double smallest_share = 0.01, smallest_on_device = 0.0025;

// The values of a side's runs; with one run the quartiles of its iterations stand for its spread.
Side side_of(const PerIteration& values, PerIteration of_only_run, double calls) {
  Side side;
  side.calls = calls;
  side.runs = values.size();
  if (values.empty()) return side;
  side.seconds = median(values);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  side.low = *low;
  side.high = *high;
  if (values.size() > 1) return side;
  std::sort(of_only_run.begin(), of_only_run.end());
  const auto quarter = of_only_run.size() / 4;
  side.low = of_only_run[quarter];
  side.high = of_only_run[of_only_run.size() - 1 - quarter];
  return side;
}

Side host_side(const std::vector<PerIteration>& runs, const Profile& profile, double calls) {
  PerIteration undisturbed_ones;
  for (std::size_t run = 0; run < runs.size() && undisturbed_ones.empty(); ++run)
    undisturbed_ones = undisturbed(runs[run], {}, profile.runs[run].slowdown);
  return side_of(values_of(profile, runs), undisturbed_ones, calls);
}

Side device_side(const std::vector<PerIteration>& runs, double calls) {
  const auto first =
      std::find_if(runs.begin(), runs.end(), [](const auto& run) { return !run.empty(); });
  return side_of(device_values(runs), first == runs.end() ? PerIteration{} : *first, calls);
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
    table[{one.name, false}] = host_side(one.self_seconds, profile, one.calls);
    const Side device = device_side(one.device_seconds, one.calls);
    if (device.seconds > 0) table[{one.name, true}] = device;
  }
  table[{outside_operators, false}] =
      host_side(of_runs(profile, &ProfileRun::outside_seconds), profile, 0);
  return table;
}

SideTable on_device(const SideTable& table) {
  SideTable kept;
  for (const auto& [key, side] : table)
    if (key.second) kept.emplace(key, side);
  return kept;
}

// Adds up the device's time over all operators, by run and iteration.
std::vector<PerIteration> device_seconds(const Profile& profile) {
  std::vector<PerIteration> sums(profile.runs.size());
  for (const OperatorProfile& one : profile.operators)
    for (std::size_t run = 0; run < one.device_seconds.size(); ++run) {
      const PerIteration& seconds = one.device_seconds[run];
      sums[run].resize(std::max(sums[run].size(), seconds.size()));
      for (std::size_t i = 0; i < seconds.size(); ++i) sums[run][i] += seconds[i];
    }
  return sums;
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
    const bool clear = apart && whole.runs >= fewest_profiled_runs;
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

// "kept from earlier iterations: 3 tensors of 1000 fp32, held by hooks.seen (hooks.py, line 3)"
std::string held_part(const std::string& name, const HeldTensors& held) {
  std::string text = "kept from earlier iterations: ";
  if (held.tensors > 0) text += std::to_string(held.tensors) + " tensors of " + held.shape + ", ";
  return text + "held by " + name + (held.place.empty() ? "" : " (" + held.place + ")");
}

std::vector<MemoryChange> held_changes(const MemorySplit& before, const MemorySplit& after) {
  std::map<std::string, MemoryChange> changes;
  for (const auto& [name, held] : before.holders)
    changes[name] = {held_part(name, held), held.bytes, 0};
  for (const auto& [name, held] : after.holders) {
    changes[name].part = held_part(name, held);
    changes[name].after = held.bytes;
  }
  std::vector<MemoryChange> list;
  for (auto& [name, change] : changes) list.push_back(std::move(change));
  return list;
}

std::vector<MemoryChange> memory_changes(const Profile& before, const Profile& after) {
  std::vector<MemoryChange> changes;
  if (!before.memory || !after.memory) return changes;
  const auto old = parts_of(*before.memory), now = parts_of(*after.memory);
  const auto bytes_of = [](const auto& parts, const std::string& name) {
    const auto found = std::find_if(parts.begin(), parts.end(),
                                    [&](const auto& part) { return part.first == name; });
    return found == parts.end() ? 0 : found->second;
  };
  for (const auto& [name, bytes] : now) changes.push_back({name, bytes_of(old, name), bytes});
  for (const auto& [name, bytes] : old)
    if (std::none_of(now.begin(), now.end(), [&](const auto& part) { return part.first == name; }))
      changes.push_back({name, bytes, 0});
  for (MemoryChange& change : held_changes(*before.memory, *after.memory))
    changes.push_back(std::move(change));
  return changes;
}

}  // namespace

ProfileDiff difference(const Profile& before, const Profile& after) {
  ProfileDiff diff;
  diff.workload = after.workload;
  diff.before = host_side(of_runs(before, &ProfileRun::iteration_seconds), before, 0);
  diff.after = host_side(of_runs(after, &ProfileRun::iteration_seconds), after, 0);
  diff.runs = std::min(diff.before.runs, diff.after.runs);
  diff.memory = memory_changes(before, after);
  diff.device_before = device_side(device_seconds(before), 0);
  diff.device_after = device_side(device_seconds(after), 0);
  diff.device_runs = std::min(diff.device_before.runs, diff.device_after.runs);
  const SideTable old = side_table(before), now = side_table(after);
  diff.changes = changes_of(old, now, {diff.before, diff.after, smallest_share, diff.runs});
  diff.kernels =
      changes_of(on_device(old), on_device(now),
                 {diff.device_before, diff.device_after, smallest_on_device, diff.device_runs});
  return diff;
}

}  // namespace nightjar::bisect
