// POST /marks: a person says that a level shifted for a reason that is not PyTorch's. DELETE takes
// it back.
#include "storage/marks.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "service/api/query.hpp"
#include "service/api/respond.hpp"
#include "service/api/routes.hpp"
#include "service/api/rows.hpp"
#include "storage/nights.hpp"

namespace nightjar::service::api {
namespace {

struct RowId {
  std::int64_t value = 0;
};

storage::Mark mark_of(storage::Database& db, const web::Request& request) {
  const auto body = parse_body(request, "add_mark");
  storage::Mark mark;
  mark.reason = body.at("reason");
  mark.workload = body.value("workload", mark.workload);
  mark.metric = body.value("metric", mark.metric);
  if (body.contains("machine")) {
    mark.machine = MachineId{body.at("machine").get<std::int64_t>()};
    if (!storage::find_machine(db, *mark.machine))
      throw Refused(422, "No such machine class",
                    "There is no machine class " + std::to_string(mark.machine->value) +
                        "; /api/v1/runners shows those there are.",
                    {{"#/machine", "is not the id of a machine class"}});
  }
  return mark;
}

// How many letters of `glob` must change for it to match: Levenshtein's distance, but that a `*`
// takes letters in for nothing.
std::size_t letters_off(std::string_view glob, std::string_view text) {
  std::vector<std::size_t> row(text.size() + 1);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = i;
  for (const char token : glob) {
    std::size_t diagonal = row[0];
    if (token != '*') ++row[0];
    for (std::size_t i = 1; i < row.size(); ++i) {
      const std::size_t above = row[i];
      const bool fits = token == '?' || token == text[i - 1];
      row[i] = token == '*' ? std::min(above, row[i - 1])
                            : std::min({diagonal + (fits ? 0u : 1u), above + 1, row[i - 1] + 1});
      diagonal = above;
    }
  }
  return row.back();
}

std::string near_names(storage::Database& db, const std::string& glob) {
  constexpr std::size_t kMost = 3;
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const Workload& workload : storage::all_workloads(db))
    near.emplace_back(letters_off(glob, workload.name.str()), workload.name.str());
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(near.size(), kMost); ++i)
    text += (i ? ", " : "") + near[i].second;
  return text.empty() ? "Nothing was measured yet." : "Near it are: " + text + ".";
}

// A mark that changes nothing is a slip of the pen.
void require_series(storage::Database& db, const storage::Mark& mark) {
  storage::SeriesFilter filter;
  filter.workload_glob = mark.workload;
  filter.machine = mark.machine;
  if (mark.metric != "*") filter.metric = mark.metric;
  if (!storage::list_series(db, filter, {1, {}}).items.empty()) return;
  const std::string where =
      mark.machine ? " on machine class " + std::to_string(mark.machine->value) : "";
  throw Refused(422, "Nothing to mark",
                "No series matches workload '" + mark.workload + "' and metric '" + mark.metric +
                    "'" + where + ". " + near_names(db, mark.workload));
}

web::Response make_mark(storage::Database& db, Context& context, const web::Request& request) {
  storage::Mark mark = mark_of(db, request);
  require_series(db, mark);
  mark.at = context.clock.now();
  mark.actor = "token:" + request.principal.name;
  mark.after_night = storage::newest_night(db);
  storage::Transaction transaction(db);
  mark = storage::add_mark(transaction, mark);
  storage::add_audit(transaction,
                     {0, mark.at, mark.actor, "mark-shift", "mark/" + std::to_string(mark.id)});
  transaction.commit();
  spdlog::info("shift marked mark={} by={}", mark.id, mark.actor);
  return json_answer(Rows(db).mark(mark), 201);
}

web::Response delete_mark(storage::Database& db, Context& context, const web::Request& request) {
  const std::int64_t id = path_id<RowId>(request).value;
  const auto mark = storage::find_mark(db, id);
  if (!mark) refuse_unknown("mark", id);
  const std::string actor = "token:" + request.principal.name;
  storage::Transaction transaction(db);
  storage::delete_mark(transaction, id);
  storage::add_audit(transaction,
                     {0, context.clock.now(), actor, "delete-mark", "mark/" + std::to_string(id)});
  transaction.commit();
  spdlog::info("mark deleted mark={} by={}", id, actor);
  return json_answer(Rows(db).mark(*mark));
}

}  // namespace

void add_mark_routes(web::Server& server, Context& context) {
  add_write(server, context, "/api/v1/marks", web::Role::admin,
            [&context](storage::Database& db, const web::Request& request) {
              return make_mark(db, context, request);
            });
  add_write(
      server, context, "/api/v1/marks/{id}", web::Role::admin,
      [&context](storage::Database& db, const web::Request& request) {
        return delete_mark(db, context, request);
      },
      1 << 16, web::Method::del);
}

}  // namespace nightjar::service::api
