// `nightjar-runner doctor`: what on this machine makes measurements noisy, and how to mend it.
#pragma once

#include <string>
#include <vector>

#include "runner/health.hpp"

namespace nightjar::runner {

struct Finding {
  bool harmful = false;
  std::string what;    // "CPU governor is 'powersave'"
  std::string remedy;  // empty if there is nothing to mend
};

// Judges what was looked at; pure, so that each rule can be tested.
std::vector<Finding> examine(const Health& health);

bool any_harmful(const std::vector<Finding>& findings);
// A line a finding, and below a harmful one how to mend it.
std::string findings_text(const std::vector<Finding>& findings);
// {"harmful": b, "items": [{"harmful": b, "what": "...", "remedy": "..."|null}]}
std::string findings_json(const std::vector<Finding>& findings);

}  // namespace nightjar::runner
