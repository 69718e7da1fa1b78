// POST /api/v1/reports/{id}/retry: what the issue tracker, the chat or the export refused is sent
// once more.
#include "service/api/routes.hpp"
#include "storage/base/log.hpp"
#include "storage/outbox.hpp"

namespace nightjar::service::api {
namespace {

web::Response retry_report(storage::Database& db, Context& context, const web::Request& request) {
  const auto id = path_id<OutboxId>(request);
  auto message = storage::find_message(db, id);
  if (!message) refuse_unknown("report", id.value);
  if (message->state != OutboxState::failed)
    throw Refused(409, "Report not refused",
                  "Report " + std::to_string(id.value) + " is " +
                      std::string(name_of(message->state)) +
                      "; only one that was refused can be tried again.");
  if (storage::is_overtaken(db, *message))
    throw Refused(409, "Report not refused",
                  "Report " + std::to_string(id.value) +
                      " is a verdict that a later one of the same finding replaced; try that one.");
  message->state = OutboxState::pending;
  message->not_before.reset();
  const std::string actor = actor_of(request.principal);
  storage::Transaction transaction(db);
  storage::update_message(transaction, *message);
  storage::add_audit(transaction, {0, context.clock.now(), actor, "retry-report",
                                   "report/" + std::to_string(id.value)});
  transaction.commit();
  log::info("report tried again report={} by={}", id.value, actor);
  context.wake();
  Rows rows(db, &context);
  return json_answer(report_row().write(*message, rows));
}

}  // namespace

void add_report_routes(Routes& routes) {
  Context& context = routes.context;
  routes.write(
      {.path = "/api/v1/reports/{id}/retry",
       .id = "retry_report",
       .summary = "Send a report again that the issue tracker, the chat or the export refused, "
                  "once the cause is mended",
       .method = web::Method::post,
       .role = web::Role::admin,
       .answers = {{.text = "It is sent soon.", .schema = report_row().schema()}},
       .problems = {no_such_id,
                    {409, "ReportNotRefused", "It was sent, or is still tried by itself."}}},
      [&context](storage::Database& db, const web::Request& request) {
        return retry_report(db, context, request);
      });
}

}  // namespace nightjar::service::api
