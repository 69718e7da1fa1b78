// What a profile's runs say of each operator as a whole. Used by the profile's tables and by the
// service's pages.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bisect/roofline.hpp"
#include "storage/model/profile.hpp"

namespace nightjar::bisect {

// The median over the runs of their values (storage/model/run_value.hpp), seconds; 0 without any.
double over_runs(const Profile& profile, const std::vector<std::vector<double>>& seconds);
double over_runs(const Profile& profile, std::vector<double> ProfileRun::*list);

// The value of each run that has a time on the GPU: the median of all its iterations, as of
// kernel_time. What slows the host down does not slow its kernels.
std::vector<double> device_values(const std::vector<std::vector<double>>& seconds);

// False if no run saw the machine undisturbed: then only its GPU has times.
bool has_times(const Profile& profile);
bool has_gpu(const Profile& profile);

// Seconds of an iteration. `one` points into the profile.
struct OperatorTimes {
  const OperatorProfile* one = nullptr;
  double self = 0, device = 0;  // own time on the host; of its kernels
  double seconds() const { return device > 0 ? device : self; }  // where its work is done
  double longest() const { return self > device ? self : device; }
};
OperatorTimes times_of(const Profile& profile, const OperatorProfile& one);
std::vector<OperatorTimes> longest_first(const Profile& profile);

// Operators by what they do, as OperatorProfile::kind has it. Shares are of all operators'
// floating-point operations, and of their time where their work is done.
struct OperatorClass {
  std::string name;  // "other": of no known class, or merged by a compiler
  double flops = 0, seconds = 0;
  double flops_share = 0, seconds_share = 0;
};
// Returns the classes that the profile's operators have, in the order of that field's comment,
// others last.
std::vector<OperatorClass> classes_of(const Profile& profile);

Work work_of(const OperatorTimes& times);
// What holds it back. nullopt if there are no ceilings, if it moves no bytes, or if it has no time
// where its work is done: on the GPU, if the profile has one.
std::optional<Limiter> limiter_of(const Profile& profile, const OperatorTimes& times);

}  // namespace nightjar::bisect
