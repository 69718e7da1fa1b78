// POST /marks: a person says that a level shifted for a reason that is not PyTorch's.
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "service/api/respond.hpp"
#include "service/api/routes.hpp"
#include "service/api/rows.hpp"
#include "storage/marks.hpp"
#include "storage/model/metric.hpp"
#include "storage/nights.hpp"

namespace nightjar::service::api {
namespace {

std::string text_of(const std::string& name, const nlohmann::json& value) {
  if (value.is_string() && !value.get<std::string>().empty()) return value;
  throw Refused(400, "Bad body", "'" + name + "' must be a text.");
}

void set(storage::Mark& mark, storage::Database& db, const std::string& name,
         const nlohmann::json& value) {
  if (name == "reason") {
    mark.reason = text_of(name, value);
  } else if (name == "workload") {
    mark.workload = text_of(name, value);
  } else if (name == "metric") {
    mark.metric = text_of(name, value);
    if (mark.metric != "*" && !find_metric(mark.metric))
      throw Refused(400, "Bad body", "There is no metric '" + mark.metric + "'.");
  } else if (name == "machine") {
    if (!value.is_number_integer() || !storage::find_machine(db, MachineId{value.get<std::int64_t>()}))
      throw Refused(400, "Bad body", "There is no machine class " + value.dump() + ".");
    mark.machine = MachineId{value.get<std::int64_t>()};
  } else {
    throw Refused(400, "Bad body",
                  "A mark has 'reason' and may have 'workload', 'metric' and 'machine', not '" + name +
                      "'.");
  }
}

storage::Mark mark_of(storage::Database& db, const web::Request& request) {
  storage::Mark mark;
  const auto body = parse_body(request);
  for (const auto& [name, value] : body.items()) set(mark, db, name, value);
  if (mark.reason.empty()) throw Refused(400, "Bad body", "A mark needs a 'reason'.");
  return mark;
}

}  // namespace

void add_mark_routes(web::Server& server, Context& context) {
  add_write(server, context, "/api/v1/marks", web::Role::admin,
            [&context](storage::Database& db, const web::Request& request) {
              storage::Mark mark = mark_of(db, request);
              mark.at = context.clock.now();
              mark.actor = "token:" + request.principal.name;
              mark.after_night = storage::newest_night(db);
              storage::Transaction transaction(db);
              mark = storage::add_mark(db, mark);
              storage::add_audit(db, {0, mark.at, mark.actor, "mark-shift",
                                      "mark/" + std::to_string(mark.id)});
              transaction.commit();
              spdlog::info("shift marked mark={} by={}", mark.id, mark.actor);
              return json_answer(Rows(db).mark(mark), 201);
            });
}

}  // namespace nightjar::service::api
