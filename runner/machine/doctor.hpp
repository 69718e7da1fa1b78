// `nightjar-runner doctor`: what on this machine makes measurements noisy, and how to mend it.
#pragma once

#include <string>
#include <vector>

#include "runner/machine/health.hpp"
#include "storage/model/enum.hpp"

namespace nightjar::runner {

// harmful: spoils measurements or keeps workloads from running, and can be mended on this machine.
// worth_knowing: harms little, or passes by itself. not_mendable: harms, but it is the host's or
// the hardware's doing.
NIGHTJAR_ENUM(FindingClass, fine, worth_knowing, not_mendable, harmful);

struct Finding {
  FindingClass kind = FindingClass::fine;
  std::string what;    // "CPU governor is 'powersave'"
  std::string remedy;  // empty if it is fine
};

// Judges what was looked at; pure, so that each rule can be tested.
std::vector<Finding> examine(const Health& health);

// Whether there is something to mend.
bool any_harmful(const std::vector<Finding>& findings);
// A line a finding, below one that is not fine what to do, and at the end how many there are of
// each class.
std::string findings_text(const std::vector<Finding>& findings);
// {"harmful": b, "items": [{"harmful": b, "class": "...", "what": "...", "remedy": "..."|null}]}
std::string findings_json(const std::vector<Finding>& findings);

}  // namespace nightjar::runner
