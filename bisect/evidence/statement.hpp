// What an evidence bundle accuses, held against its own verdicts, sessions and builds. A verdict
// that is right says nothing if another commit, workload or state stands beside it. Used by
// verify_bundle().
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace nightjar::evidence {

// One sentence for each field that does not follow from the rest of the bundle; it begins with the
// field's path. Throws nlohmann::json::exception for what is no bundle.
std::vector<std::string> contradictions(const nlohmann::json& bundle);

}  // namespace nightjar::evidence
