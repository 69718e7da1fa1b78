// Two builds series by series, and one series build by build.
#include <algorithm>

#include "bisect/statistics.hpp"
#include "service/api/report_text.hpp"
#include "service/engine/outcome/difference_facts.hpp"
#include "service/report/digest.hpp"
#include "storage/series_history.hpp"

namespace nightjar::service::api {
using storage::Database;
using web::Request;
namespace {

template <class Get>
auto of_its_series(Get get) {
  return [get](const ComparedSeries& row) { return std::invoke(get, row.series); };
}

auto of_change(double bisect::Ratio::*end) {
  return [end](const ComparedSeries& row) {
    return row.change ? std::optional(*row.change.*end) : std::nullopt;
  };
}

const Row<ComparedSeries>& compared_row() {
  using Both = ComparedSeries;
  static const Row<Both> made(
      "ComparedSeries", "One series in both builds.",
      {{"series", of_its_series(&Series::id)},
       {"workload", of_its_series(&Series::workload_name)},
       {"metric", of_its_series(&Series::metric)},
       {"unit", of_its_series(unit_of)},
       {"machine", of_its_series(&Series::machine)},
       {"variant", of_its_series(&Series::variant)},
       {"source", [](const Both& row) { return row.source; },
        "confirm: interleaved runs of both; screen: each in its own night."},
       {"before_runs", [](const Both& row) { return row.good.size(); }},
       {"after_runs", [](const Both& row) { return row.bad.size(); }},
       {"before", [](const Both& row) { return bisect::hodges_lehmann(row.good); }},
       {"after", [](const Both& row) { return bisect::hodges_lehmann(row.bad); }},
       {"ratio", of_change(&bisect::Ratio::ratio),
        "after / before; null where a value is not positive."},
       {"low", of_change(&bisect::Ratio::low)},
       {"high", of_change(&bisect::Ratio::high)}});
  return made;
}

struct Comparison {
  BuildId good, bad;
  std::vector<ComparedSeries> items;
};

const Row<Comparison>& comparison_row() {
  static const Row<Comparison> made(
      "Comparison", "Two builds, series by series.",
      {{"good", build_at(&Comparison::good), build_ref()},
       {"bad", build_at(&Comparison::bad), build_ref()},
       {"items", &Comparison::items, compared_row()},
       {"next_cursor", [](const Comparison&) { return std::optional<std::string>(); },
        "null: there is one page."}});
  return made;
}

BuildId required_build(Database& db, const Request& request, const Query<BuildId>& side) {
  const auto id = side(request);
  if (!id)
    throw Refused(400, "Missing query parameter",
                  request.path + " needs '" + side.name + "', the id of a build.",
                  {{"", "is missing", side.name}});
  if (!storage::find_build(db, *id)) refuse_unknown("build", id->value);
  return *id;
}

void add_difference_route(Routes& routes) {
  auto reference = id_query<BuildId>("reference", "The build to compare with.");
  auto build = id_query<BuildId>("build", "The build to judge.");
  reference.required = build.required = true;
  const auto parse = [](const std::string& given) {
    const auto percent = parse_id(given);
    return percent && *percent <= 100 ? std::optional(static_cast<double>(*percent) / 100)
                                      : std::nullopt;
  };
  const Query<double> least{"least",
                            "The least change that is listed, in percent.",
                            {{"type", "integer"}, {"minimum", 1}, {"maximum", 100}, {"default", 3}},
                            "a number from 1 to 100",
                            parse};
  routes.read(
      {.path = "/api/v1/difference",
       .id = "get_difference",
       .summary = "How a build differs from a reference, as a text",
       .parameters = {reference, build, least, report_kind_query()},
       .answers = report_answers(),
       .problems = {no_such_build}},
      [&context = routes.context, reference, build, least](Database& db, const Request& request) {
        const auto from = required_build(db, request, reference);
        const auto to = required_build(db, request, build);
        const EngineView view{db, context.commits, context.artifacts, context.config,
                              context.clock};
        const auto input =
            difference_facts(view, from, to, least(request).value_or(DifferenceInput().least));
        return report_answer(request, "Difference of two builds", render_difference(input));
      });
}

storage::Page<storage::SeriesPoint> points(Database& db, SeriesId id, BuildId first, BuildId last,
                                           int limit) {
  if (!storage::find_series(db, id)) refuse_unknown("series", id.value);
  storage::Page<storage::SeriesPoint> page{storage::points_between(db, id, first, last, limit), {}};
  std::erase_if(page.items, [](const auto& point) { return point.values.empty(); });
  return page;
}

}  // namespace

void add_comparison_routes(Routes& routes) {
  auto good = id_query<BuildId>("good", "The build to compare with.");
  auto bad = id_query<BuildId>("bad", "The build to judge.");
  good.required = bad.required = true;
  std::vector<Parameter> of_compare = representation(compared_row().schema());
  of_compare.insert(of_compare.begin(), {good, bad});
  routes.read({.path = "/api/v1/compare",
               .id = "compare",
               .summary = "Two builds, series by series",
               .parameters = of_compare,
               .answers = list_answers(comparison_row().schema()),
               .problems = {no_such_build}},
              [=](Database& db, const Request& request) {
                const auto from = required_build(db, request, good);
                const auto to = required_build(db, request, bad);
                Rows rows(db);
                return list_answer(
                    request,
                    comparison_row().write({from, to, compared_series(db, from, to)}, rows),
                    compared_row().schema());
              });
  add_difference_route(routes);
  add_digest_route(routes);
  constexpr int usual_points = 200;
  constexpr int most_points = 100'000;
  const auto limit = limit_query(usual_points, "The newest so many.", most_points);
  const auto first = id_query<BuildId>("first", "Of builds with this id or a greater one.");
  const auto last = id_query<BuildId>("last", "Of builds with this id or a smaller one.");
  static const auto page = page_row(point_row());
  std::vector<Parameter> parameters = representation(point_row().schema());
  parameters.insert(parameters.begin(), {limit, first, last});
  routes.read({.path = "/api/v1/series/{id}/points",
               .id = "get_series_points",
               .summary = "A point for each nightly, oldest first",
               .parameters = parameters,
               .answers = list_answers(page.schema()),
               .problems = {{404, "ThereIsNoSuchSeries", "There is no such series."}}},
              [=](Database& db, const Request& request) {
                const auto id = path_id<SeriesId>(request);
                Rows rows(db);
                const BuildId newest{std::numeric_limits<std::int64_t>::max()};
                const auto found =
                    points(db, id, first(request).value_or(BuildId{1}),
                           last(request).value_or(newest), limit(request).value_or(usual_points));
                return list_answer(request, page.write(found, rows), point_row().schema());
              });
}

}  // namespace nightjar::service::api
