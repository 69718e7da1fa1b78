// The groups of routes that make up the interface. Internal to the API.
#pragma once

#include <optional>
#include <string>

#include "service/api/api.hpp"
#include "storage/model/night.hpp"

namespace nightjar::service::api {

void add_list_routes(web::Server& server, Context& context);        // builds to audit
void add_evidence_routes(web::Server& server, Context& context);    // of a verdict, to judge again
void add_comparison_routes(web::Server& server, Context& context);  // /compare, /series/{id}/points
void add_calibration_routes(web::Server& server, Context& context);
void add_night_routes(web::Server& server, Context& context);  // POST /nights, /nights/{id}/cancel
void add_mark_routes(web::Server& server, Context& context);   // POST /marks, DELETE /marks/{id}
void add_webhook_routes(web::Server& server, Context& context);
void add_agent_routes(web::Server& server, Context& context);
void add_artifact_routes(web::Server& server, Context& context);
void add_operation_routes(web::Server& server, Context& context);  // health, readiness, metrics
void add_page_routes(web::Server& server);                         // the page, openapi.json

// Stores a waiting night and who asked for it, in one transaction, then tells engine and watchers.
// One that was asked for before and has not begun is answered instead. nullopt: the webhook's
// delivery (empty: none) was received before.
struct StartedNight {
  Night night;
  bool is_new = true;
};
std::optional<StartedNight> start_night(storage::Database& db, Context& context,
                                        NightTrigger trigger, const std::string& actor,
                                        const std::string& reason,
                                        const std::string& delivery = {});

}  // namespace nightjar::service::api
