// Profiles as people and programs read them: the outputs of `nightjar-runner profile`.
#pragma once

#include <string>
#include <vector>

#include "storage/model/profile.hpp"

namespace nightjar::runner {

// {"items": [...]}, each as docs/profiles.md says; the input of `nightjar profile-diff`.
std::string profiles_json(const std::vector<Profile>& profiles);

// A report for a terminal: totals, the operators that take 99 % of the time, memory, hints.
std::string profile_table(const Profile& profile);

}  // namespace nightjar::runner
