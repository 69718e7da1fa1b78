// GET /regressions/{id}/extent: where else a finding was looked for.
#include "service/api/routes.hpp"
#include "service/engine/verdict/extent.hpp"
#include "service/report/apart.hpp"

namespace nightjar::service::api {
namespace {

struct Elsewhere {
  SeriesId series;
  ReportExtent::Other other;
};

struct Extent {
  std::optional<std::string> metric;
  std::vector<Elsewhere> worse, not_seen;
  int unclear = 0;
  std::vector<ApartBy> apart;
};

std::vector<std::string> in_order(const std::set<std::string>& words) {
  return {words.begin(), words.end()};
}

const Row<ApartBy>& apart_row() {
  static const Row<ApartBy> made(
      "ApartBy", "A part of the name that sets those that show it apart from the others.",
      {{"part", &ApartBy::part},
       {"seen", [](const ApartBy& one) { return in_order(one.seen); }},
       {"not_seen", [](const ApartBy& one) { return in_order(one.not_seen); }}});
  return made;
}

const Row<Elsewhere>& elsewhere_row() {
  static const Row<Elsewhere> made(
      "OtherSeries", "A series of the same metric that the same night measured.",
      {{"series", &Elsewhere::series},
       {"workload", [](const Elsewhere& item) { return item.other.workload; }},
       {"machine", [](const Elsewhere& item) { return item.other.machine; }},
       {"ratio", [](const Elsewhere& item) { return item.other.ratio; },
        "The night's level to the one before, by its screening alone."}});
  return made;
}

const Row<Extent>& extent_row() {
  static const Row<Extent> made(
      "Extent",
      "Where else a finding was looked for; series that another finding explains are out.",
      {{"metric", &Extent::metric, "null: what an import found was looked for nowhere else."},
       {"worse", &Extent::worse, elsewhere_row(), "By the threshold or more."},
       {"not_seen", &Extent::not_seen, elsewhere_row(), "Looked at, and no worse."},
       {"unclear", &Extent::unclear, "Series that are worse by less than the threshold."},
       {"apart", &Extent::apart, apart_row(), "Among the workloads of the affected models."}});
  return made;
}

Extent extent_of(const ExtentFacts& facts, const Regression& regression, Rows& rows) {
  std::map<std::pair<std::string, MachineId>, SeriesId> known;
  for (const auto& [group, all] : facts.observed)
    for (const Observation& one : all)
      known[{one.series.workload_name.str(), one.series.machine}] = one.series.id;
  const auto with_series = [&](const std::vector<ReportExtent::Other>& others) {
    std::vector<Elsewhere> found;
    for (const ReportExtent::Other& other : others)
      found.push_back({known.at({other.workload, other.machine}), other});
    return found;
  };
  const ReportExtent all = decide(facts, regression);
  std::vector<std::string> seen, not_seen;
  for (const AffectedSeries& own : regression.series)
    if (const Series& series = rows.series_of(own.series); series.metric == facts.metric)
      seen.push_back(series.workload_name.str());
  for (const auto& other : all.worse) seen.push_back(other.workload);
  for (const auto& other : all.not_seen) not_seen.push_back(other.workload);
  return {facts.metric.empty() ? std::nullopt : std::optional(facts.metric), with_series(all.worse),
          with_series(all.not_seen), all.unclear, what_sets_apart(seen, not_seen)};
}

}  // namespace

void add_extent_routes(Routes& routes) {
  routes.read({.path = "/api/v1/regressions/{id}/extent",
               .id = "get_regressions_extent",
               .summary = "In which other series the night saw a finding, and in which it did not",
               .answers = {{.schema = extent_row().schema()}},
               .problems = {no_such_id}},
              [&context = routes.context](storage::Database& db, const web::Request& request) {
                const auto id = path_id<RegressionId>(request);
                const auto regression = storage::find_regression(db, id);
                if (!regression) refuse_unknown("regression", id.value);
                const EngineView view{db, context.commits, context.artifacts, context.config,
                                      context.clock};
                Rows rows(db);
                return json_answer(extent_row().write(
                    extent_of(load_extent(view, *regression), *regression, rows), rows));
              });
}

}  // namespace nightjar::service::api
