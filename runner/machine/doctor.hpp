// `nightjar-runner doctor`: what on this machine makes measurements noisy, and how to mend it.
#pragma once

#include <string>
#include <vector>

#include "runner/machine/health.hpp"
#include "storage/model/enum.hpp"

namespace nightjar::runner {

// A harmful finding spoils measurements or keeps workloads from running, and can be mended on this
// machine. One that is worth_knowing harms little or passes by itself. One that is not_mendable
// harms, but the host or the hardware causes it.
NIGHTJAR_ENUM(FindingClass, fine, worth_knowing, not_mendable, harmful);

struct Finding {
  FindingClass kind = FindingClass::fine;
  std::string what;    // "CPU governor is 'powersave'"
  std::string remedy;  // empty if it is fine
};

// Judges what was observed. Pure, so that each rule can be tested.
std::vector<Finding> examine(const Health& health);

// True if there is something to mend.
bool any_harmful(const std::vector<Finding>& findings);
// What harms, on one line: "load is 9.0; swap in use: 1.00 GiB". Empty if nothing does.
std::string harms_text(const std::vector<Finding>& findings);
// One line for each finding, with what to do below one that is not fine. The last line counts the
// findings of each class.
std::string findings_text(const std::vector<Finding>& findings);
// {"harmful": b, "items": [{"harmful": b, "class": "...", "what": "...", "remedy": "..."|null}]}
std::string findings_json(const std::vector<Finding>& findings);

}  // namespace nightjar::runner
