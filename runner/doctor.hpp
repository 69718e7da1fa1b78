// `nightjar-runner doctor`: what on this machine makes measurements noisy, and how to mend it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "storage/model/job.hpp"

namespace nightjar::runner {

struct Finding {
  bool harmful = false;
  std::string what;    // "CPU governor is 'powersave'"
  std::string remedy;  // empty if there is nothing to mend
};

// Judges facts and state; pure, so that each rule can be tested.
std::vector<Finding> examine(const std::map<std::string, std::string>& facts,
                             const MachineState& state);

// A line a finding. `harmful`: whether there was anything to mend.
std::string findings_text(const std::vector<Finding>& findings, bool& harmful);

}  // namespace nightjar::runner
