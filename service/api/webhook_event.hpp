// Decides whether an event of GitHub's starts a night. Pure; used by the webhook's route.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "service/config.hpp"

namespace nightjar::service::api {

// Returns why the event starts no night; empty if it does. `event`: "push" or "workflow_run".
// `payload` may be any JSON object.
std::string why_ignored(const std::string& event, const nlohmann::json& payload,
                        const Config::Webhook& config);

}  // namespace nightjar::service::api
