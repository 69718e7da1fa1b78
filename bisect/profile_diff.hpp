// Which operators got slower between two profiles of one workload: for `nightjar profile-diff`.
#pragma once

#include <string>
#include <vector>

#include "storage/model/enum.hpp"
#include "storage/model/profile.hpp"

namespace nightjar::bisect {

NIGHTJAR_ENUM(ChangeKind, slower, faster, appeared, vanished);

// Seconds and calls an iteration. `low` and `high`: the least and the greatest value of a run.
struct Side {
  double seconds = 0, low = 0, high = 0, calls = 0;
  std::size_t runs = 0;  // that have a value
};

struct OperatorChange {
  std::string name;        // outside_operators for the time in no operator
  bool on_device = false;  // time on the GPU instead of own CPU time
  ChangeKind kind = ChangeKind::slower;
  bool apart = true;  // in time: no run of one side lies between two of the other; else the number
                      // of calls differs
  bool clear = true;  // apart, and with runs enough that this is hardly chance
  Side before, after;
  double share = 0;  // of the iteration's whole change; negative where it counteracts
};

// A part of the tensors' memory at an iteration's peak, in bytes. The first is the peak itself; the
// last say who holds what earlier iterations made.
struct MemoryChange {
  std::string part;
  std::int64_t before = 0, after = 0;
};

struct ProfileDiff {
  std::string workload;
  std::size_t runs = 0;                 // that have a value, of the side that has fewer
  Side before, after;                   // whole iterations; no calls
  std::vector<OperatorChange> changes;  // those that are clear, the greatest first, then the others
  std::size_t device_runs = 0;          // that have a time on the GPU, of the side that has fewer
  Side device_before, device_after;     // all that ran on the GPU in an iteration; no calls
  std::vector<OperatorChange> kernels;  // the same for operators' time on the GPU, as shares of it
  std::vector<MemoryChange> memory;     // every part; empty where a side was not divided
};

inline constexpr const char* outside_operators = "(outside of operators)";
// Runs a side from which on a change can be clear: of n a side, without a change, those of the
// later one lie above all others in 1 of C(2n, n) cases: 1 of 6 for two, 20 for three, 70 for four,
// 252 for five. A profile has dozens of operators.
inline constexpr std::size_t fewest_profiled_runs = 4;

// Every operator whose calls or time changed. A run's time is its value (run_value.hpp), on the GPU
// that of device_values (operator_times.hpp). A change of time counts when no run of one side lies
// between two of the other, and it is large enough: 1 % of the iteration, or for `kernels` 0.25 %
// of the GPU's time, which repeats as well. It is clear from fewest_profiled_runs a side on.
//
// If there is one run, the middle half of its iterations stands for runs; on the CPU, of its
// undisturbed ones. This ignores differences between processes. Without runs no time is compared.
// Refused: a test on iterations, since those of one process are alike.
ProfileDiff difference(const Profile& before, const Profile& after);

}  // namespace nightjar::bisect
