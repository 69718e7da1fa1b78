// POST /api/v1/nights and /nights/{id}/cancel, and how a night is started whoever asks.
#include "storage/nights.hpp"

#include "service/api/routes.hpp"
#include "service/engine/verdict/confirmations.hpp"
#include "storage/base/log.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/marks.hpp"
#include "storage/regressions.hpp"

namespace nightjar::service::api {
namespace {

struct Wish {
  std::optional<std::string> reason;
};
BOOST_DESCRIBE_STRUCT(Wish, (), (reason))

const Described<Wish>& wish() {
  static const auto made =
      aggregate<Wish>("", "", {{"reason", "", reason_schema(), true}}).closed();
  return made;
}

// No body at all is fine.
std::string reason_of(const web::Request& request) {
  return request.body.empty() ? std::string() : parse_body(request, wish()).reason.value_or("");
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
      start_night(db, context, NightTrigger::api, actor_of(request.principal), reason_of(request));
  Rows rows(db);
  auto response = json_answer(night_row().write(started->night, rows), started->is_new ? 202 : 200);
  response.headers.emplace_back("Location",
                                "/api/v1/nights/" + std::to_string(started->night.id.value));
  return response;
}

// Cancels the night. It adds no level and no improvement, and its suspicions stay open.
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
  const std::string reason = reason_of(request);
  auto night = storage::find_night(db, id);
  if (!night) refuse_unknown("night", id.value);
  if (night->state == NightState::done || night->state == NightState::cancelled)
    throw Refused(409, "Night over",
                  "Night " + std::to_string(id.value) + " is " +
                      std::string(name_of(night->state)) +
                      "; only one that waits, measures or judges can be cancelled.");
  if (!reason.empty()) night->reason = reason;
  storage::Transaction transaction(db);
  call_off(transaction, *night, actor_of(request.principal), context.clock.now());
  transaction.commit();
  log::info("night cancelled night={} by={}", id.value, night->cancelled_by);
  tell_of(context, *night);
  Rows rows(db);
  return json_answer(night_row().write(*night, rows));
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
  log::info("night started night={} by={}", night.id.value, actor);
  tell_of(context, night);
  return StartedNight{night, true};
}

void add_night_routes(Routes& routes) {
  Context& context = routes.context;
  const auto& night = night_row().schema();
  routes.write(
      {.path = "/api/v1/nights",
       .id = "start_night",
       .summary = "Start a night now",
       .method = web::Method::post,
       .role = web::Role::admin,
       .body = Body{wish().schema(), false},
       .answers = {{.status = 200,
                    .text = "One that was asked for before, for the same build, has not begun: "
                            "this one.",
                    .schema = night,
                    .location = "The night."},
                   {.status = 202,
                    .text = "Started; it waits for the engine.",
                    .schema = night,
                    .location = "The night."}}},
      [&context](storage::Database& db, const web::Request& request) {
        return start_asked(db, context, request);
      });
  routes.write(
      {.path = "/api/v1/nights/{id}/cancel",
       .id = "cancel_night",
       .summary =
           "Cancel a night: its jobs end, and nothing that it measured makes a level or a verdict",
       .method = web::Method::post,
       .role = web::Role::admin,
       .body = Body{wish().schema(), false, {{"reason", "the machine is needed"}}},
       .answers = {{.text = "Cancelled. A runner that still measures is told when it renews its "
                            "lease.",
                    .schema = night,
                    .example = {{"id", 12},
                                {"trigger", "schedule"},
                                {"state", "cancelled"},
                                {"build", nullptr},
                                {"reason", "the machine is needed"},
                                {"started_at", "2026-08-20T20:00:00Z"},
                                {"finished_at", "2026-08-20T20:05:00Z"},
                                {"cancelled_by", "token:ops"}}}},
       .problems = {no_such_id, {409, "NightOver", "The night is done or was cancelled before."}}},
      [&context](storage::Database& db, const web::Request& request) {
        return cancel_asked(db, context, request);
      });
}

}  // namespace nightjar::service::api
