// GET /beside/machines: one machine class beside another. GET /beside/release: the last release
// beside the newest nightly.
#include "service/engine/outcome/beside.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "bisect/suite.hpp"
#include "service/api/routes.hpp"
#include "storage/imports.hpp"

namespace nightjar::service::api {
using storage::Database;
using web::Request;
namespace {

NIGHTJAR_ENUM(BesidePart, compared, left_out);

template <class M>
auto of_side(M Series::*member) {
  return [member](const BesideSide& side) { return side.series.*member; };
}

const Row<BesideSide>& side_row() {
  const auto build = [](const BesideSide& side, Rows& rows) {
    return *rows.build_of(side.point.build);
  };
  static const Row<BesideSide> made(
      "BesideSide", "What one side measured.",
      {{"series", of_side(&Series::id)},
       {"machine", of_side(&Series::machine)},
       {"variant", of_side(&Series::variant)},
       {"version", of_side(&Series::workload_version), "Of the workload."},
       {"build", build, build_ref()},
       {"runs",
        [](const BesideSide& side) { return side.point.values.size(); },
        "Of the build. Where it has a single one: of up to five nightlies of the same level, or of "
        "all imports of the same release.",
        {{"minimum", 1}}},
       {"value", &BesideSide::value, "Hodges-Lehmann location of the runs."}});
  return made;
}

auto of_interval(double bisect::Interval::*end) {
  return [end](const BesideRow& row) {
    return row.interval ? std::optional((*row.interval).*end) : std::nullopt;
  };
}

template <class Get>
auto of_row(Get get) {
  return [get](const BesideRow& row) { return std::invoke(get, row.series); };
}

const Row<BesideRow>& beside_row() {
  static const Row<BesideRow> made(
      "BesideWorkload", "One workload on both sides.",
      {{"workload", of_row(&Series::workload_name)},
       {"domain", of_row([](const Series& series) { return domain_of(series.workload_name); }), "",
        domain_schema()},
       {"metric", of_row(&Series::metric)},
       {"unit", of_row(unit_of)},
       {"direction", of_row(direction_of)},
       {"first", &BesideRow::first, side_row(), "Null: it has no value."},
       {"other", &BesideRow::other, side_row()},
       {"ratio", &BesideRow::ratio,
        "first / other: above 1 the other is faster. Null: see reason."},
       {"low", of_interval(&bisect::Interval::low),
        "The 95 % interval of the ratio. With less than four runs a side it is the range of all "
        "pairs' ratios, which covers less (three and three: 90 %). Null: a side has a single run, "
        "which says nothing about noise."},
       {"high", of_interval(&bisect::Interval::high)},
       {"reason", or_null(&BesideRow::reason), "Why it could not be compared."}});
  return made;
}

struct BesideTotal {
  int compared = 0, left_out = 0;
  std::optional<double> ratio = {};
};

const Row<BesideTotal>& beside_total_row() {
  static const Row<BesideTotal> made(
      "BesideTotal", "Over all pages.",
      {{"compared", &BesideTotal::compared, "Workloads that have a ratio."},
       {"left_out", &BesideTotal::left_out, "Workloads that could not be compared."},
       {"ratio", &BesideTotal::ratio, "The geometric mean of the ratios. Null: there is none."}});
  return made;
}

struct BesidePage {
  BesideTotal total;
  storage::Page<BesideRow> page;
};

const Row<BesidePage>& beside_page_row() {
  const auto cursor = [](const BesidePage& item) {
    return item.page.next ? std::optional(std::to_string(*item.page.next)) : std::nullopt;
  };
  static const Row<BesidePage> made(
      "Beside", "Two sides, workload by workload.",
      {{"total", &BesidePage::total, beside_total_row()},
       {"items", [](const BesidePage& item) { return item.page.items; }, beside_row(),
        "The largest ratio first, whichever side is the faster. What could not be compared comes "
        "last."},
       {"next_cursor", cursor, "Pass as cursor for the next page; null: the last."}});
  return made;
}

BesideTotal total_of(const std::vector<BesideRow>& rows) {
  std::vector<double> ratios;
  for (const BesideRow& row : rows)
    if (row.ratio) ratios.push_back(*row.ratio);
  const auto compared = static_cast<int>(ratios.size());
  return {compared, static_cast<int>(rows.size()) - compared, bisect::geometric_mean(ratios).value};
}

// The parameters that both comparisons have.
struct BesideQueries {
  Query<std::string> metric = metric_query();
  WorkloadQueries workload = workload_queries();
  Query<BesidePart> part = enum_query<BesidePart>("part", "Only what was compared, or was not.");

  std::vector<MeasuredOnBuilds> measured(const Database& db, const Request& request,
                                         MachineId machine) const {
    if (!storage::find_machine(db, machine)) refuse_unknown("machine", machine.value);
    return measured_on(db, machine, metric(request).value_or("latency"), workload(request));
  }
  web::Response answer(Database& db, const Request& request, std::vector<BesideRow> all) const {
    BesidePage made{total_of(all), {}};
    if (const auto only = part(request))
      std::erase_if(all, [&](const BesideRow& row) {
        return row.ratio.has_value() != (*only == BesidePart::compared);
      });
    made.page = page_of(std::move(all), page_request(request),
                        [](const BesideRow& row) { return row.series.id.value; });
    Rows rows(db);
    return list_answer(request, beside_page_row().write(made, rows), beside_row().schema());
  }
  Operation operation(const char* path, const char* id, const char* summary,
                      std::vector<Parameter> own) const {
    own.insert(own.end(), {metric, part});
    own = with_workloads(std::move(own));
    for (Parameter& parameter : paging()) own.push_back(std::move(parameter));
    for (Parameter& parameter : representation(beside_row().schema()))
      own.push_back(std::move(parameter));
    return {.path = path,
            .id = id,
            .summary = summary,
            .parameters = std::move(own),
            .answers = list_answers(beside_page_row().schema()),
            .problems = {{404, "MachineNotFound", "There is no such machine class."}}};
  }
};

MachineId required_machine(const Request& request, const Query<MachineId>& side) {
  if (const auto id = side(request)) return *id;
  throw Refused(400, "Missing query parameter",
                request.path + " needs '" + side.name + "', a machine class's id.",
                {{"", "is missing", side.name}});
}

void add_machines_route(Routes& routes) {
  const BesideQueries asked;
  auto first = id_query<MachineId>("first", "A machine class.");
  auto other = id_query<MachineId>("other", "The machine class to put beside it.");
  first.required = other.required = true;
  routes.read(
      asked.operation("/api/v1/beside/machines", "machines_beside",
                      "One machine class beside another, workload by workload", {first, other}),
      [=](Database& db, const Request& request) {
        const auto here = asked.measured(db, request, required_machine(request, first));
        const auto there = asked.measured(db, request, required_machine(request, other));
        return asked.answer(db, request, machines_beside(here, there));
      });
}

// Those that have runners, and those with an imported history.
std::set<MachineId> measuring_classes(const Database& db) {
  std::set<MachineId> machines;
  for (const Runner& runner : storage::all_runners(db)) machines.insert(runner.machine);
  for (const auto& imported : storage::imported_classes(db)) machines.insert(imported.id);
  return machines;
}

void add_release_route(Routes& routes) {
  const BesideQueries asked;
  const auto machine = id_query<MachineId>("machine", "A machine class. Without it: each.");
  routes.read(
      asked.operation("/api/v1/beside/release", "release_beside",
                      "The last release that was measured beside the newest nightly", {machine}),
      [=](Database& db, const Request& request) {
        std::set<MachineId> machines = measuring_classes(db);
        if (const auto only = machine(request)) machines = {*only};
        std::vector<MeasuredOnBuilds> all;
        for (const MachineId id : machines) {
          auto some = asked.measured(db, request, id);
          std::move(some.begin(), some.end(), std::back_inserter(all));
        }
        return asked.answer(db, request, release_beside(all));
      });
}

}  // namespace

void add_beside_routes(Routes& routes) {
  add_machines_route(routes);
  add_release_route(routes);
}

}  // namespace nightjar::service::api
