// Two builds series by series, and one series build by build.
#include <algorithm>
#include <memory>

#include "service/api/compared.hpp"
#include "service/api/references.hpp"
#include "service/api/report_text.hpp"
#include "service/api/routes.hpp"
#include "service/report/digest.hpp"
#include "storage/series_history.hpp"

namespace nightjar::service::api {
using storage::Database;
using web::Request;
namespace {

template <class Get>
auto of_its_series(Get get) {
  return [get](const JudgedSeries& row) { return std::invoke(get, row.one->series); };
}

template <class M>
auto of_both(M ComparedSeries::*member) {
  return [member](const JudgedSeries& row) { return row.one->*member; };
}

auto of_change(double bisect::Ratio::*end) {
  return [end](const JudgedSeries& row) {
    return row.one->change ? std::optional(*row.one->change.*end) : std::nullopt;
  };
}

const Row<JudgedSeries>& compared_row() {
  static const Row<JudgedSeries> made(
      "ComparedSeries", "One series in both builds.",
      {{"series", of_its_series(&Series::id)},
       {"workload", of_its_series(&Series::workload_name)},
       {"domain", of_both(&ComparedSeries::domain), "", domain_schema()},
       {"metric", of_its_series(&Series::metric)},
       {"unit", of_its_series(unit_of)},
       {"direction", of_its_series(direction_of)},
       {"has_ratio", of_its_series(has_ratio)},
       {"machine", of_its_series(&Series::machine)},
       {"variant", of_its_series(&Series::variant)},
       {"standing", &JudgedSeries::standing,
        "worse, better: the 95 % interval leaves out no change, and the change is as large as "
        "`least`."},
       {"source", of_both(&ComparedSeries::source),
        "confirm: interleaved runs of both; screen: each in its own night."},
       {"before_runs", of_both(&ComparedSeries::before_runs)},
       {"after_runs", of_both(&ComparedSeries::after_runs)},
       {"before", of_both(&ComparedSeries::before)},
       {"after", of_both(&ComparedSeries::after)},
       {"ratio", of_change(&bisect::Ratio::ratio),
        "after / before; null where a value is not positive."},
       {"low", of_change(&bisect::Ratio::low)},
       {"high", of_change(&bisect::Ratio::high)}});
  return made;
}

const Row<MetricMean>& mean_of_metric_row() {
  static const Row<MetricMean> made("MetricMean", "The mean over the series that have a ratio.",
                                    {{"metric", &MetricMean::metric},
                                     {"series", &MetricMean::series, "How many."},
                                     {"ratio", &MetricMean::ratio, "Geometric mean."}});
  return made;
}

const Row<ComparedGroup>& total_row() {
  static const Row<ComparedGroup> made("ComparedTotal", "All that the filters take, by standing.",
                                       {{"worse", &ComparedGroup::worse},
                                        {"better", &ComparedGroup::better},
                                        {"alike", &ComparedGroup::alike},
                                        {"means", &ComparedGroup::means, mean_of_metric_row()}});
  return made;
}

const Row<ComparedGroup>& group_row() {
  static const Row<ComparedGroup> made(
      "ComparedGroup", "Series that have something in common.", total_row(),
      {{"name", &ComparedGroup::name, "What they have in common; of machines, the class's id."},
       {"largest", &ComparedGroup::largest, compared_row(),
        "The largest change; null: all are alike."}});
  return made;
}

// A page, and the summary of the whole comparison beside it.
struct ComparisonPage {
  std::shared_ptr<const Comparison> whole;
  ComparedGroup total;
  storage::Page<JudgedSeries> page;
};

const Row<ComparisonPage>& comparison_row() {
  using Choices = std::map<std::string, std::vector<std::string>>;
  const auto choices = [](const ComparisonPage& item) {
    Choices all;
    for (const auto& [by, values] : item.whole->choices)
      all[std::string(name_of(by))] = {values.begin(), values.end()};
    return all;
  };
  const auto cursor = [](const ComparisonPage& item) {
    return item.page.next ? std::optional(std::to_string(*item.page.next)) : std::nullopt;
  };
  const auto build = [](BuildId Comparison::*side) {
    return [side](const ComparisonPage& item, Rows& rows) {
      return *rows.build_of((*item.whole).*side);
    };
  };
  static const Row<ComparisonPage> made(
      "Comparison", "Two builds, series by series.",
      {{"good", build(&Comparison::good), build_ref()},
       {"bad", build(&Comparison::bad), build_ref()},
       {"total", &ComparisonPage::total, total_row(), "Over all pages, whatever their standing."},
       {"choices", choices, "The values that filters find here, without any filter."},
       {"items", [](const ComparisonPage& item) { return item.page.items; }, compared_row(),
        "What differs comes first, the largest change first."},
       {"next_cursor", cursor, "Pass as cursor for the next page; null: the last."}});
  return made;
}

BuildId required_build(Database& db, const Request& request, const Query<std::string>& side) {
  const auto given = side(request);
  if (!given)
    throw Refused(400, "Missing query parameter",
                  request.path + " needs '" + side.name + "', a build's id, version or commit.",
                  {{"", "is missing", side.name}});
  const auto id = build_called(db, *given, side.name);
  if (!storage::find_build(db, id)) refuse_unknown("build", id.value);
  return id;
}

const double usual_least = DifferenceInput().least;

Query<double> least_query(const char* text) {
  const auto parse = [](const std::string& given) {
    const auto percent = parse_id(given);
    return percent && *percent <= 100 ? std::optional(static_cast<double>(*percent) / 100)
                                      : std::nullopt;
  };
  return {"least",
          text,
          {{"type", "integer"}, {"minimum", 1}, {"maximum", 100}, {"default", 3}},
          "a number from 1 to 100",
          parse};
}

void add_difference_route(Routes& routes) {
  auto reference = build_name_query("reference", "The build to compare with.");
  auto build = build_name_query("build", "The build to judge.");
  reference.required = build.required = true;
  const auto least = least_query("The least change that is listed, in percent.");
  routes.read(
      {.path = "/api/v1/difference",
       .id = "get_difference",
       .summary = "How a build differs from a reference, as a text",
       .parameters = {reference, build, least, report_kind_query()},
       .answers = report_answers()},
      [&context = routes.context, reference, build, least](Database& db, const Request& request) {
        const auto from = required_build(db, request, reference);
        const auto to = required_build(db, request, build);
        const EngineView view{db, context.commits, context.artifacts, context.config,
                              context.clock};
        const auto input = difference_facts(view, from, to, least(request).value_or(usual_least));
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

// The parameters that both lists of a comparison have.
struct ComparisonQueries {
  Query<std::string> good = build_name_query("good", "The build to compare with.");
  Query<std::string> bad = build_name_query("bad", "The build to judge.");
  WorkloadQueries workload = workload_queries();
  Query<std::string> metric = metric_query();
  Query<std::string> variant =
      word_query("variant", "Only those of builds of this variant, e.g. cpu.");
  Query<MachineId> machine = id_query<MachineId>("machine", "A machine class.");
  Query<double> least = least_query("The least change that is worse or better, in percent.");

  ComparisonQueries() { good.required = bad.required = true; }
  std::vector<Parameter> parameters(const Parameter& own, const Schema& row) const {
    std::vector<Parameter> all{good, bad, own, metric, variant, machine, least};
    for (Parameter& parameter : paging()) all.push_back(std::move(parameter));
    all = with_workloads(std::move(all));
    for (Parameter& parameter : representation(row)) all.push_back(std::move(parameter));
    return all;
  }
  std::vector<JudgedSeries> judged_series(const Comparison& whole, const Request& request) const {
    return judged(whole, {workload(request), metric(request), variant(request), machine(request)},
                  least(request).value_or(usual_least));
  }
};

void add_compare_route(Routes& routes, const std::shared_ptr<Comparisons>& comparisons) {
  const ComparisonQueries asked;
  const auto standing = enum_query<Standing>("standing", "Only these.");
  routes.read({.path = "/api/v1/compare",
               .id = "compare",
               .summary = "Two builds, series by series: what differs beyond noise comes first",
               .parameters = asked.parameters(standing, compared_row().schema()),
               .answers = list_answers(comparison_row().schema())},
              [=](Database& db, const Request& request) {
                const auto good = required_build(db, request, asked.good);
                const auto bad = required_build(db, request, asked.bad);
                const auto only = standing(request);
                ComparisonPage made{comparisons->of(db, good, bad), {}, {}};
                auto all = asked.judged_series(*made.whole, request);
                made.total = taken_together("", all);
                if (only)
                  std::erase_if(all, [&](const auto& one) { return one.standing != *only; });
                const auto id_of = [](const JudgedSeries& one) { return one.one->series.id.value; };
                made.page = page_of(std::move(all), page_request(request), id_of);
                Rows rows(db);
                return list_answer(request, comparison_row().write(made, rows),
                                   compared_row().schema());
              });
}

void add_groups_route(Routes& routes, const std::shared_ptr<Comparisons>& comparisons) {
  const ComparisonQueries asked;
  const auto by = enum_query<GroupBy>("by", "What the series of a group have in common.");
  static const auto page = page_row(group_row());
  routes.read({.path = "/api/v1/compare/groups",
               .id = "compare_groups",
               .summary = "Two builds, by domain, model or another part of what is measured",
               .parameters = asked.parameters(by, group_row().schema()),
               .answers = list_answers(page.schema())},
              [=](Database& db, const Request& request) {
                const auto good = required_build(db, request, asked.good);
                const auto bad = required_build(db, request, asked.bad);
                const auto whole = comparisons->of(db, good, bad);
                const auto id_of = [](const ComparedGroup& one) { return one.first.value; };
                const auto found = page_of(grouped(asked.judged_series(*whole, request),
                                                   by(request).value_or(GroupBy::domain)),
                                           page_request(request), id_of);
                Rows rows(db);
                return list_answer(request, page.write(found, rows), group_row().schema());
              });
}

}  // namespace

void add_comparison_routes(Routes& routes) {
  const auto comparisons = std::make_shared<Comparisons>(routes.server.ledger());
  add_compare_route(routes, comparisons);
  add_groups_route(routes, comparisons);
  add_difference_route(routes);
  add_digest_route(routes);
  constexpr int usual_points = 200;
  constexpr int most_points = 100'000;
  const auto limit = limit_query(usual_points, "How many of the newest points.", most_points);
  const auto first =
      id_query<BuildId>("first", "Only those of builds with this id or a greater one.");
  const auto last =
      id_query<BuildId>("last", "Only those of builds with this id or a smaller one.");
  static const auto page = page_row(point_row());
  std::vector<Parameter> parameters = representation(point_row().schema());
  parameters.insert(parameters.begin(), {limit, first, last});
  routes.read({.path = "/api/v1/series/{id}/points",
               .id = "get_series_points",
               .summary = "A point for each nightly, oldest first",
               .parameters = parameters,
               .answers = list_answers(page.schema()),
               .problems = {{404, "SeriesNotFound", "There is no such series."}}},
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
