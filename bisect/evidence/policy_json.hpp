// The two policies, and what controls said of the machine, as JSON, so that a verdict can be judged
// again by its own rules.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "bisect/detection.hpp"
#include "bisect/search.hpp"

namespace nightjar::evidence {

nlohmann::json policy_json(const bisect::DetectionPolicy& policy);
nlohmann::json policy_json(const bisect::SearchPolicy& policy);
nlohmann::json control_json(const ControlReading& control);
// Throw nlohmann::json::exception that names the field.
bisect::DetectionPolicy detection_policy(const nlohmann::json& json);
bisect::SearchPolicy search_policy(const nlohmann::json& json);
// The "controls" of a screening; none if it has no such field.
std::vector<ControlReading> control_readings(const nlohmann::json& said);

}  // namespace nightjar::evidence
