// POST /api/v1/nights, and how a night is started whoever asks.
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "service/api/respond.hpp"
#include "service/api/routes.hpp"
#include "service/api/rows.hpp"
#include "storage/nights.hpp"

namespace nightjar::service::api {
namespace {

// The reason that the body may give: {} or {"reason": "..."}; nothing at all is fine.
std::string reason_of(const web::Request& request) {
  if (request.body.empty()) return {};
  const auto body = parse_body(request);
  std::string reason;
  for (const auto& [name, value] : body.items()) {
    if (name != "reason" || !value.is_string())
      throw Refused(400, "Bad body",
                    "A night is started with {} or {\"reason\": \"text\"}, not '" + name + "'.");
    reason = value;
  }
  return reason;
}

}  // namespace

std::optional<Night> start_night(storage::Database& db, Context& context, NightTrigger trigger,
                                 const std::string& actor, const std::string& reason,
                                 const std::string& delivery) {
  Night night;
  night.trigger = trigger;
  night.reason = reason;
  night.started_at = context.clock.now();
  storage::Transaction transaction(db);
  if (!delivery.empty() && !storage::first_delivery(db, delivery, night.started_at))
    return std::nullopt;
  night = storage::add_night(db, night);
  storage::add_audit(db, {0, night.started_at, actor, "start-night",
                          "night/" + std::to_string(night.id.value)});
  transaction.commit();
  spdlog::info("night started night={} by={}", night.id.value, actor);
  context.events.publish("night", nlohmann::json{{"id", night.id.value}, {"state", "waiting"}}.dump());
  context.wake();
  return night;
}

void add_night_routes(web::Server& server, Context& context) {
  add_write(server, context, "/api/v1/nights", web::Role::admin,
            [&context](storage::Database& db, const web::Request& request) {
              const Night night = *start_night(db, context, NightTrigger::api,
                                               "token:" + request.principal.name,
                                               reason_of(request));
              auto response = json_answer(Rows(db).night(night), 202);
              response.headers.emplace_back("Location",
                                            "/api/v1/nights/" + std::to_string(night.id.value));
              return response;
            });
}

}  // namespace nightjar::service::api
