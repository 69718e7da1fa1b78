// GET /cost: machine time of nights, and for each finding whose commit is named.
#include "service/engine/outcome/cost.hpp"

#include <utility>

#include "service/api/routes.hpp"

namespace nightjar::service::api {
namespace {

constexpr int usual_cost_days = 30;

const Described<MeasuringCost>& cost_row() {
  static const Described<MeasuringCost> made(
      "MeasuringCost", "What sessions took on one kind of machine class, and what they found.",
      {{"minutes", &MeasuringCost::minutes,
        "That sessions held machines, each from its first run to its last."},
       {"named", &MeasuringCost::named, "Findings whose commit is named.", {{"minimum", 0}}},
       {"minutes_per_finding", [](const MeasuringCost& cost) { return cost.per_finding(); },
        "Null: nothing was named."}});
  return made;
}

const Described<MeasuringCosts>& costs_row() {
  static const Described<MeasuringCosts> made(
      "MeasuringCosts", "What nights cost and what they found.",
      {{"from", &MeasuringCosts::from},
       {"until", &MeasuringCosts::until},
       {"nights", &MeasuringCosts::nights, "That began meanwhile; at most 500.", {{"minimum", 0}}},
       {"with_gpu", &MeasuringCosts::with_gpu, cost_row(), "On machine classes that have a GPU."},
       {"without_gpu", &MeasuringCosts::without, cost_row(), "On all others."}});
  return made;
}

}  // namespace

void add_cost_routes(Routes& routes) {
  const auto period = period_query(usual_cost_days);
  routes.read(
      {.path = "/api/v1/cost",
       .id = "get_cost",
       .summary = "Machine time of the nights in some days, and for each finding that they named",
       .parameters = {period.days, period.until},
       .answers = {{.schema = costs_row().schema()}}},
      [&clock = routes.context.clock, period](storage::Database& db, const web::Request& request) {
        const auto [from, to] = period(request, clock.now());
        return json_answer(costs_row().write(costs_between(db, from, to)));
      },
      Routes::Kept::never);
}

}  // namespace nightjar::service::api
