// POST /api/v1/nights and /nights/{id}/cancel, and how a night is started whoever asks.
#include "storage/nights.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "service/api/query.hpp"
#include "service/api/respond.hpp"
#include "service/api/routes.hpp"
#include "service/api/rows.hpp"
#include "service/engine/verdict/confirmations.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/marks.hpp"
#include "storage/regressions.hpp"

namespace nightjar::service::api {
namespace {

// The reason that the body may give: {} or {"reason": "..."}; nothing at all is fine.
std::string reason_of(const web::Request& request, std::string_view operation) {
  return request.body.empty() ? std::string() : parse_body(request, operation).value("reason", "");
}

// A webhook announces a build that is still to come. A person wants the newest one measured.
std::optional<Night> same_night(storage::Database& db, const Context& context,
                                NightTrigger trigger) {
  if (auto waiting = storage::waiting_night(db, trigger)) return waiting;
  if (trigger != NightTrigger::api) return std::nullopt;
  const auto newest = storage::newest_proved(db, context.config.source.variant);
  return newest ? storage::unclaimed_night(db, newest->id) : std::nullopt;
}

void tell_of(Context& context, const Night& night) {
  context.events.publish(
      "night", nlohmann::json{{"id", night.id.value}, {"state", name_of(night.state)}}.dump());
  context.wake();
}

web::Response start_asked(storage::Database& db, Context& context, const web::Request& request) {
  const auto started =
      start_night(db, context, NightTrigger::api, "token:" + request.principal.name,
                  reason_of(request, "start_night"));
  auto response = json_answer(Rows(db).night(started->night), started->is_new ? 202 : 200);
  response.headers.emplace_back("Location",
                                "/api/v1/nights/" + std::to_string(started->night.id.value));
  return response;
}

// Whatever the night was about to say is not said: no level, no improvement; its suspicions stay
// open.
void call_off(storage::Transaction& transaction, Night& night, const std::string& actor, Time now) {
  const std::string why = "night " + std::to_string(night.id.value) + " was cancelled by " + actor;
  night.state = NightState::cancelled;
  night.cancelled_by = actor;
  night.finished_at = now;
  storage::update_night(transaction, night);
  storage::cancel_jobs_of_night(transaction, night.id, why);
  storage::delete_improvements(transaction, night.id);
  for (const Regression& regression : storage::regressions_of_night(transaction, night.id))
    if (regression.state == RegressionState::suspected)
      leave_unconfirmed(transaction, regression, now, why);
  storage::add_audit(transaction,
                     {0, now, actor, "cancel-night", "night/" + std::to_string(night.id.value)});
}

web::Response cancel_asked(storage::Database& db, Context& context, const web::Request& request) {
  const auto id = path_id<NightId>(request);
  const std::string reason = reason_of(request, "cancel_night");
  auto night = storage::find_night(db, id);
  if (!night) refuse_unknown("night", id.value);
  if (night->state == NightState::done || night->state == NightState::cancelled)
    throw Refused(409, "Night over",
                  "Night " + std::to_string(id.value) + " is " +
                      std::string(name_of(night->state)) +
                      "; only one that waits, measures or judges can be cancelled.");
  if (!reason.empty()) night->reason = reason;
  storage::Transaction transaction(db);
  call_off(transaction, *night, "token:" + request.principal.name, context.clock.now());
  transaction.commit();
  spdlog::info("night cancelled night={} by={}", id.value, night->cancelled_by);
  tell_of(context, *night);
  return json_answer(Rows(db).night(*night));
}

}  // namespace

std::optional<StartedNight> start_night(storage::Database& db, Context& context,
                                        NightTrigger trigger, const std::string& actor,
                                        const std::string& reason, const std::string& delivery) {
  Night night;
  night.trigger = trigger;
  night.reason = reason;
  night.started_at = context.clock.now();
  storage::Transaction transaction(db);
  if (!delivery.empty() && !storage::remember_delivery(transaction, delivery, night.started_at))
    return std::nullopt;
  if (auto same = same_night(db, context, trigger)) {
    transaction.commit();
    return StartedNight{*std::move(same), false};
  }
  night = storage::add_night(transaction, night);
  storage::add_audit(transaction, {0, night.started_at, actor, "start-night",
                                   "night/" + std::to_string(night.id.value)});
  transaction.commit();
  spdlog::info("night started night={} by={}", night.id.value, actor);
  tell_of(context, night);
  return StartedNight{night, true};
}

void add_night_routes(web::Server& server, Context& context) {
  const auto add = [&](const char* path, auto* work) {
    add_write(server, context, path, web::Role::admin,
              [&context, work](storage::Database& db, const web::Request& request) {
                return work(db, context, request);
              });
  };
  add("/api/v1/nights", start_asked);
  add("/api/v1/nights/{id}/cancel", cancel_asked);
}

}  // namespace nightjar::service::api
