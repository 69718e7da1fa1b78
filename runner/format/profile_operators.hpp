// The operators' part of a profile's report, and what its other parts share with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bisect/roofline.hpp"
#include "storage/model/profile.hpp"

namespace nightjar::runner {

[[gnu::format(printf, 1, 2)]] std::string printed(const char* format, ...);

// Returns what holds each of the profile's operators back, in their order. nullopt if there are no
// ceilings or no times, or if the operator had nothing to do on its GPU.
std::vector<std::optional<bisect::Limiter>> limiters(const Profile& profile);

// Shows the classes of operators, with their shares of time and of floating-point operations.
std::string class_table(const Profile& profile);

// Shows the operators that take 99 % of the time, the longest first.
std::string operator_table(const Profile& profile);

}  // namespace nightjar::runner
