// POST /marks: a person says that a level shifted for a reason that is not PyTorch's. DELETE takes
// it back.
#include "storage/marks.hpp"

#include <algorithm>

#include "service/api/references.hpp"
#include "service/api/routes.hpp"
#include "storage/base/log.hpp"
#include "storage/nights.hpp"

namespace nightjar::service::api {
namespace {

struct RowId {
  std::int64_t value = 0;
};

struct Shift {
  std::string reason;
  std::optional<std::string> workload, metric;
  std::optional<MachineId> machine;
};
BOOST_DESCRIBE_STRUCT(Shift, (), (reason, workload, metric, machine))

Schema metric_or_all() {
  std::vector<std::string_view> names{"*"};
  for (const Metric& metric : all_metrics()) names.push_back(metric.name);
  return named("MetricOrAll", one_of(names));
}

const Described<Shift>& shift() {
  static const auto made =
      aggregate<Shift>(
          "", "",
          {{"reason", "", reason_schema().with({{"minLength", 1}})},
           {"workload", "Default: all.",
            named("Glob",
                  line_schema(200).with(
                      {{"minLength", 1},
                       {"description", "Over workload names, e.g. python/*/eval/cpu/**."}})),
            true},
           {"metric", "A metric's name, or *, the default.", metric_or_all(), true},
           {"machine",
            "Id of a machine class; default: all.",
            {{"maximum", 9007199254740991}},
            true}})
          .closed();
  return made;
}

storage::Mark mark_of(storage::Database& db, const web::Request& request) {
  const auto asked = parse_body(request, shift());
  storage::Mark mark;
  mark.reason = asked.reason;
  mark.workload = asked.workload.value_or(mark.workload);
  mark.metric = asked.metric.value_or(mark.metric);
  mark.machine = asked.machine;
  if (mark.machine) require_machine(db, *mark.machine);
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
  constexpr std::size_t most_at_once = 3;
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const Workload& workload : storage::all_workloads(db))
    near.emplace_back(letters_off(glob, workload.name.str()), workload.name.str());
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(near.size(), most_at_once); ++i)
    text += (i ? ", " : "") + near[i].second;
  return text.empty() ? "Nothing was measured yet." : "Near it are: " + text + ".";
}

// A mark that changes nothing is a slip of the pen.
void require_series(storage::Database& db, const storage::Mark& mark) {
  storage::SeriesFilter filter;
  filter.workload.glob = mark.workload;
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
  mark.actor = actor_of(request.principal);
  mark.after_night = storage::newest_night(db);
  storage::Transaction transaction(db);
  mark = storage::add_mark(transaction, mark);
  storage::add_audit(transaction,
                     {0, mark.at, mark.actor, "mark-shift", "mark/" + std::to_string(mark.id)});
  transaction.commit();
  log::info("shift marked mark={} by={}", mark.id, mark.actor);
  Rows rows(db);
  return json_answer(mark_row().write(mark, rows), 201);
}

web::Response delete_mark(storage::Database& db, Context& context, const web::Request& request) {
  const std::int64_t id = path_id<RowId>(request).value;
  const auto mark = storage::find_mark(db, id);
  if (!mark) refuse_unknown("mark", id);
  const std::string actor = actor_of(request.principal);
  storage::Transaction transaction(db);
  storage::delete_mark(transaction, id);
  storage::add_audit(transaction,
                     {0, context.clock.now(), actor, "delete-mark", "mark/" + std::to_string(id)});
  transaction.commit();
  log::info("mark deleted mark={} by={}", id, actor);
  Rows rows(db);
  return json_answer(mark_row().write(*mark, rows));
}

}  // namespace

void add_mark_routes(Routes& routes) {
  Context& context = routes.context;
  const auto& mark = mark_row().schema();
  routes.write({.path = "/api/v1/marks",
                .id = "add_mark",
                .summary = "Say that a level shifted for a reason that is not PyTorch's: it starts "
                           "over with the next night",
                .method = web::Method::post,
                .role = web::Role::admin,
                .body = Body{shift().schema()},
                .answers = {{.status = 201, .text = "Marked.", .schema = mark}},
                .problems = {{422, "MarkNotFound",
                              "No series matches; detail says what was looked for, and which names "
                              "are near."}}},
               [&context](storage::Database& db, const web::Request& request) {
                 return make_mark(db, context, request);
               });
  routes.write(
      {.path = "/api/v1/marks/{id}",
       .id = "delete_mark",
       .summary = "Take a mark back: the levels before it count again",
       .method = web::Method::del,
       .role = web::Role::admin,
       .answers = {{.text = "Deleted; this was it.",
                    .schema = mark,
                    .example = {{"id", 3},
                                {"at", "2026-08-20T20:00:00Z"},
                                {"actor", "token:ops"},
                                {"after_night", 11},
                                {"machine", nullptr},
                                {"workload", "python/bert/**"},
                                {"metric", "latency"},
                                {"reason", "other inputs"}}}},
       .problems = {no_such_id}},
      [&context](storage::Database& db, const web::Request& request) {
        return delete_mark(db, context, request);
      },
      1 << 16);
}

}  // namespace nightjar::service::api
