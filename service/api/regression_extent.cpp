// GET /regressions/{id}/extent: where else a finding was looked for.
#include "service/api/routes.hpp"
#include "service/engine/verdict/extent.hpp"
#include "service/report/apart.hpp"

namespace nightjar::service::api {
namespace {

struct Extent {
  std::optional<std::string> metric;
  ReportExtent night;  // of the finding
  std::vector<ApartBy> apart;
  std::vector<ReportBeside> beside;
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

const Row<ReportExtent::Other>& other_row() {
  using Other = ReportExtent::Other;
  static const Row<Other> made(
      "OtherSeries", "A series of the same metric that the same night measured.",
      {{"series", &Other::series},
       {"workload", &Other::workload},
       {"machine", &Other::machine},
       {"ratio", &Other::ratio, "The night's level to the one before, by its screening alone."}});
  return made;
}

const Row<ReportBeside>& beside_row() {
  static const Row<ReportBeside> made(
      "SeriesBeside", "What got worse with a finding that joined, on its machine class.",
      {{"metric", &ReportBeside::metric},
       {"version", &ReportBeside::version, "The version of its night's build."},
       {"worse", &ReportBeside::worse, other_row(), "By the threshold or more."},
       {"unclear", &ReportBeside::unclear, "Series that are worse by less than the threshold."}});
  return made;
}

const Row<Extent>& extent_row() {
  static const Row<Extent> made(
      "Extent",
      "Where else a finding was looked for; series that another finding explains are out.",
      {{"metric", &Extent::metric, "null: what an import found was looked for nowhere else."},
       {"worse", [](const Extent& item) { return item.night.worse; }, other_row(),
        "By the threshold or more."},
       {"not_seen", [](const Extent& item) { return item.night.not_seen; }, other_row(),
        "Looked at, and no worse."},
       {"unclear", [](const Extent& item) { return item.night.unclear; },
        "Series that are worse by less than the threshold."},
       {"apart", &Extent::apart, apart_row(), "Among the workloads of the affected models."},
       {"beside", &Extent::beside, beside_row(),
        "Once for each night, machine class and metric of the findings that joined."}});
  return made;
}

Extent extent_of(const EngineView& view, const Regression& regression, Rows& rows) {
  const ExtentFacts facts = load_extent(view, regression);
  Extent extent{facts.metric.empty() ? std::nullopt : std::optional(facts.metric),
                decide(facts, regression),
                {},
                worse_beside(view, regression, {}, storage::merged_into(view.db, regression.id))};
  std::vector<std::string> seen, not_seen;
  for (const AffectedSeries& own : regression.series)
    if (const Series& series = rows.series_of(own.series); series.metric == facts.metric)
      seen.push_back(series.workload_name.str());
  for (const auto& other : extent.night.worse) seen.push_back(other.workload);
  for (const auto& other : extent.night.not_seen) not_seen.push_back(other.workload);
  extent.apart = what_sets_apart(seen, not_seen);
  return extent;
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
                return json_answer(extent_row().write(extent_of(view, *regression, rows), rows));
              });
}

}  // namespace nightjar::service::api
