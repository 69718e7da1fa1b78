// Checks what an evidence bundle claims against its own verdicts, sessions and builds. A correct
// verdict proves nothing if the bundle states another commit, workload or state. Used by
// verify_bundle().
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace nightjar::evidence {

// Whether the bundle is of the search of a fix, which has no regression and blames nobody.
bool is_of_fix(const nlohmann::json& bundle);
// What it is of: the value of its field "fix" or "regression".
const nlohmann::json& subject_of(const nlohmann::json& bundle);

// One sentence for each field that does not follow from the rest of the bundle, beginning with the
// field's path. Throws nlohmann::json::exception if this is no bundle.
std::vector<std::string> contradictions(const nlohmann::json& bundle);

}  // namespace nightjar::evidence
