// THE value of one run, made of its iterations: what series keep, `measure`, `compare` and
// `profile` show, and every verdict judges.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "storage/model/job.hpp"

namespace nightjar {

// The slowdown up to which an iteration counts as undisturbed. The workloads' harness has twins of
// this constant, in C++ and in Python; tests hold them equal.
inline constexpr double undisturbed_slowdown = 1.25;

// Iterations of a run that are profiled for kernel_time, whose value is their median.
inline constexpr int profiled_iterations = 10;

// The iterations that count: those that waited for a CPU at most 1 % of their time and whose
// slowdown is at most undisturbed_slowdown. Empty if these are fewer than five and fewer than half
// of a run that was probed: it never saw the machine undisturbed. A run that was not probed counts
// as a whole then. `waits` and `slowdown` are left alone unless they go with `seconds` one by one.
std::vector<double> undisturbed(const std::vector<double>& seconds,
                                const std::vector<double>& waits,
                                const std::vector<double>& slowdown);

// True if the build or the workload failed. False if it was measured, or cannot run on this
// machine.
bool is_failure(RunStatus status);

// What dynamo's check_accuracy would have written of a run that ended so. `eager`: of its
// reference.
Accuracy accuracy_of(RunStatus status, bool eager);
// What is kept of a run: the word of the workload itself, else of a run that failed the one that
// its end stands for. nullopt of a backend that compiles nothing.
std::optional<Accuracy> accuracy_of(const RunResult& run, const WorkloadName& name);

// True if the run was measured, and its checksum is further from the expected one than it may be.
bool gives_another_result(const RunResult& run);

// The value of latency is the first decile of the iterations that count. A disturbance only ever
// slows down, and some of it falls between two probes. On a shared host runs of one build varied by
// 3 to 6 % so, their medians by 17 %. The value of any other metric is the median; of failures see
// model/metric.hpp. nullopt without a finite sample that counts. Refused: the mean (outliers), the
// minimum (verdicts change with the number of iterations).
std::optional<double> value_of(const RunResult& run, std::string_view metric);

// The same for the runs of a profile, from times given by run and iteration. Leaves out runs that
// have no value.
std::vector<double> values_of(const Profile& profile,
                              const std::vector<std::vector<double>>& seconds);

// The share of the measured latency that was spent waiting for a CPU; 0 if it was not recorded.
double wait_share_of(const RunResult& run);

}  // namespace nightjar
