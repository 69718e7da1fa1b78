// Two builds series by series, and one series build by build.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "bisect/statistics.hpp"
#include "service/api/query.hpp"
#include "service/api/routes.hpp"
#include "service/api/rows.hpp"

namespace nightjar::service::api {
using nlohmann::json;
using storage::Database;
using web::Request;
namespace {

struct Sides {
  std::vector<double> good, bad;
  const char* source = "screen";
};

std::vector<double> values_of(const std::vector<SeriesRun>& runs, BuildId build) {
  std::vector<double> values;
  for (const SeriesRun& run : runs)
    if (run.build == build) values.push_back(run.value);
  return values;
}

// Interleaved runs where the night confirmed, since drift meets both sides alike there.
Sides sides_of(Database& db, const Series& series, const Night& good_night, const Night& bad_night,
               BuildId good, BuildId bad) {
  const auto confirmed = storage::runs_of_series(db, series.id, bad_night.id, JobKind::confirm);
  Sides sides{values_of(confirmed, good), values_of(confirmed, bad), "confirm"};
  if (!sides.good.empty() && !sides.bad.empty()) return sides;
  return {values_of(storage::runs_of_series(db, series.id, good_night.id, JobKind::screen), good),
          values_of(storage::runs_of_series(db, series.id, bad_night.id, JobKind::screen), bad),
          "screen"};
}

bool all_positive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

json compared(const Series& series, const Sides& sides) {
  json row{{"series", series.id.value},
           {"workload", series.workload_name.str()},
           {"metric", series.metric},
           {"unit", unit_of(series.metric)},
           {"machine", series.machine.value},
           {"variant", series.variant},
           {"source", sides.source},
           {"before_runs", sides.good.size()},
           {"after_runs", sides.bad.size()},
           {"before", bisect::hodges_lehmann(sides.good)},
           {"after", bisect::hodges_lehmann(sides.bad)},
           {"ratio", nullptr},
           {"low", nullptr},
           {"high", nullptr}};
  if (all_positive(sides.good) && all_positive(sides.bad)) {
    const auto change = bisect::shift(sides.good, sides.bad, .95);
    row["ratio"] = change.ratio;
    row["low"] = change.low;
    row["high"] = change.high;
  }
  return row;
}

BuildId required_build(Database& db, const Request& request, const char* name) {
  const auto id = query_id<BuildId>(request, name);
  if (!id)
    throw Refused(400, "Missing query parameter",
                  "/api/v1/compare needs '" + std::string(name) + "', the id of a build.");
  if (!storage::find_build(db, *id)) refuse_unknown("build", id->value);
  return *id;
}

web::Response compare(Database& db, const Request& request) {
  const BuildId good = required_build(db, request, "good"),
                bad = required_build(db, request, "bad");
  const auto good_night = storage::find_night_of_build(db, good);
  const auto bad_night = storage::find_night_of_build(db, bad);
  json items = json::array();
  if (good_night && bad_night)
    for (const Series& series : storage::series_of_night(db, bad_night->id)) {
      const Sides sides = sides_of(db, series, *good_night, *bad_night, good, bad);
      if (!sides.good.empty() && !sides.bad.empty()) items.push_back(compared(series, sides));
    }
  Rows rows(db);
  json answer = page_of(std::move(items), std::nullopt);
  answer["good"] = rows.build_ref(good);
  answer["bad"] = rows.build_ref(bad);
  return json_answer(answer);
}

web::Response points(Database& db, const Request& request) {
  const auto id = path_id<SeriesId>(request);
  if (!storage::find_series(db, id)) refuse_unknown("series", id.value);
  Rows rows(db);
  json items = json::array();
  for (const auto& point : storage::points_of_series(db, id, query_limit(request, 200)))
    if (!point.values.empty()) items.push_back(rows.point(point));
  return json_answer(page_of(std::move(items), std::nullopt));
}

}  // namespace

void add_comparison_routes(web::Server& server, Context& context) {
  add_read(server, context, "/api/v1/compare", {"good", "bad"}, compare);
  add_read(server, context, "/api/v1/series/{id}/points", {"limit"}, points);
}

}  // namespace nightjar::service::api
