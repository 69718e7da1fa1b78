// The operators' part of a profile's report, and what its other parts share with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bisect/roofline.hpp"
#include "storage/model/profile.hpp"

namespace nightjar::runner {

[[gnu::format(printf, 1, 2)]] std::string printed(const char* format, ...);

// The median over the runs of their values (storage/model/run_value.hpp), seconds; 0 without any.
double over_runs(const Profile& profile, std::vector<double> ProfileRun::*list);

// False if no run saw the machine undisturbed.
bool has_times(const Profile& profile);

bool has_gpu(const Profile& profile);

// Returns what holds each of the profile's operators back, in their order. nullopt if there are no
// ceilings or no times, or if the operator had nothing to do on its GPU.
std::vector<std::optional<bisect::Limiter>> limiters(const Profile& profile);

// Shows the operators that take 99 % of the time, the longest first.
std::string operator_table(const Profile& profile);

}  // namespace nightjar::runner
