// The two policies as JSON, so that a verdict can be judged again by its own rules.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bisect/detection.hpp"
#include "bisect/search.hpp"

namespace nightjar::evidence {

nlohmann::json policy_json(const bisect::DetectionPolicy& policy);
nlohmann::json policy_json(const bisect::SearchPolicy& policy);
// Throw nlohmann::json::exception that names the field.
bisect::DetectionPolicy detection_policy(const nlohmann::json& json);
bisect::SearchPolicy search_policy(const nlohmann::json& json);

}  // namespace nightjar::evidence
