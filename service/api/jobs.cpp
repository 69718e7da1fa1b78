// POST /api/v1/jobs/{id}/cancel.
#include "storage/jobs.hpp"

#include "service/api/routes.hpp"
#include "storage/base/log.hpp"
#include "storage/nights.hpp"

namespace nightjar::service::api {
namespace {

web::Response cancel_job(storage::Database& db, Context& context, const web::Request& request) {
  const auto id = path_id<JobId>(request);
  const std::string actor = actor_of(request.principal);
  if (!storage::find_job(db, id)) refuse_unknown("job", id.value);
  storage::Transaction transaction(db);
  if (!storage::cancel_job(transaction, id, "cancelled by " + actor))
    throw Refused(409, "Job over",
                  "Job " + std::to_string(id.value) +
                      " has ended; only one that is queued or leased can be cancelled.");
  storage::add_audit(transaction, {0, context.clock.now(), actor, "cancel-job",
                                   "job/" + std::to_string(id.value)});
  transaction.commit();
  log::info("job cancelled job={} by={}", id.value, actor);
  context.events.publish("job", nlohmann::json{{"id", id}, {"state", JobState::cancelled}}.dump());
  context.wake();
  Rows rows(db, &context);
  return json_answer(job_row().write(*storage::find_listed_job(db, id), rows));
}

}  // namespace

void add_job_routes(Routes& routes) {
  Context& context = routes.context;
  routes.write({.path = "/api/v1/jobs/{id}/cancel",
                .id = "cancel_job",
                .summary = "Cancel a job; what waits for it goes on as if it had failed",
                .method = web::Method::post,
                .role = web::Role::admin,
                .answers = {{.text = "Cancelled. A runner that still works on it is told when it "
                                     "renews its lease.",
                             .schema = job_row().schema()}},
                .problems = {no_such_id, {409, "JobOver", "The job had ended before."}}},
               [&context](storage::Database& db, const web::Request& request) {
                 return cancel_job(db, context, request);
               });
}

}  // namespace nightjar::service::api
