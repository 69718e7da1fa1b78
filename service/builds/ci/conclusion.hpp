// What a look that brought no wheel comes to, and when to look again. Pure; used by CiRung.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "storage/model/ci_lookup.hpp"

namespace nightjar::service::ci {

// What a look saw.
struct Sight {
  int runs = 0;
  int unfinished_runs = 0;
  std::chrono::seconds commit_age{};
  std::vector<std::string> missing;  // archives without the wanted wheel, why
  std::vector<std::string> gone;     // archives that vanished while they were looked at
  std::vector<std::string> refused;  // wheels and archives that cannot be used, why
};

// The state of a look that saw everything: absent if there is no wheel and none will come. Failed,
// to be looked at again, while runs go on, for a commit so young that its runs may not have begun,
// and where something vanished. What cannot be used is tried three times in all.
CiLookup after_full_look(CiLookup lookup, const Sight& sight, Time now);
// The state of a look that brought no answer: failed, to be looked at again not before `wait`.
CiLookup after_no_answer(CiLookup lookup, const std::string& why,
                         std::optional<std::chrono::seconds> wait, Time now);

}  // namespace nightjar::service::ci
