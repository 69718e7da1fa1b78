// GET /calibration: how far the verdicts on each series can be trusted, from cases of known truth.
#include "bisect/calibration.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "bisect/noise_class.hpp"
#include "service/api/query.hpp"
#include "service/api/routes.hpp"
#include "service/api/rows.hpp"
#include "service/engine/policy.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/calibration.hpp"
#include "storage/model/json_io.hpp"
#include "storage/replays.hpp"

namespace nightjar::service::api {
using nlohmann::json;
namespace {

json share_of(int hits, int cases) {
  const auto interval = bisect::binomial_interval(hits, cases, .95);
  return {{"cases", cases}, {"worse", hits}, {"low", interval.low}, {"high", interval.high}};
}

json searches_of(const storage::ReplayCount& count) {
  const auto interval = bisect::binomial_interval(count.exact, count.cases, .95);
  return {{"cases", count.cases},
          {"exact", count.exact},
          {"innocent", count.innocent},
          {"low", interval.low},
          {"high", interval.high}};
}

json smallest(const bisect::SeriesNoise& noise, const Series& series, const Config& config) {
  if (noise.sd <= 0) return nullptr;
  const auto policy = bisect::adapted(policy_of(series, config), noise);
  return bisect::smallest_seen(noise.sd, bisect::runs_a_night(noise.kind, config.night.runs),
                               policy);
}

json series_row(storage::Database& db, Rows& rows, const Config& config, SeriesId id) {
  const Series& series = rows.series_of(id);
  const auto noise = noise_of(db, series);
  return {{"series", id},
          {"machine", series.machine},
          {"workload", series.workload_name},
          {"metric", series.metric},
          {"noise_class", noise.kind},
          {"noise", noise.sd > 0 ? json(noise.sd) : json(nullptr)},
          {"smallest_seen", smallest(noise, series, config)},
          {"same_build", share_of(0, 0)},
          {"planted", json::array()},
          {"searches", searches_of({})}};
}

web::Response calibration(storage::Database& db, const Config& config) {
  Rows rows(db);
  std::map<SeriesId, json> by_series;
  const auto row_of = [&](SeriesId id) -> json& {
    json& row = by_series[id];
    if (row.is_null()) row = series_row(db, rows, config, id);
    return row;
  };
  for (const auto& count : storage::count_calibrations(db)) {
    json found = share_of(count.worse, count.cases);
    found["inconclusive"] = count.inconclusive;
    if (count.planted == 0) {
      row_of(count.series)["same_build"] = std::move(found);
    } else {
      found["change"] = count.planted;
      row_of(count.series)["planted"].push_back(std::move(found));
    }
  }
  for (const auto& [id, count] : storage::count_replays(db))
    row_of(id)["searches"] = searches_of(count);
  json items = json::array();
  for (auto& [id, row] : by_series) items.push_back(std::move(row));
  return json_answer(page_of(std::move(items), std::nullopt));
}

}  // namespace

void add_calibration_routes(web::Server& server, Context& context) {
  add_read(server, context, "/api/v1/calibration", {},
           [&context](storage::Database& db, const web::Request&) {
             return calibration(db, context.config);
           });
}

}  // namespace nightjar::service::api
