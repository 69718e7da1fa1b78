// GET /api/v1/demand: what whoever starts runners on a cluster asks again and again.
#include "service/engine/jobs/demand.hpp"

#include "service/api/routes.hpp"
#include "storage/runners.hpp"

namespace nightjar::service::api {
namespace {

using Label = std::pair<std::string, std::string>;

Query<Label> label_query() {
  const auto parse = [](const std::string& given) -> std::optional<Label> {
    const auto equals = given.find('=');
    if (equals == 0 || equals == std::string::npos) return std::nullopt;
    return Label{given.substr(0, equals), given.substr(equals + 1)};
  };
  return {"label", "Runners with this label, k=v; otherwise all.",
          Schema{{"type", "string"}, {"pattern", "^[^=]+=.*$"}}, "of the form k=v", parse};
}

std::vector<Runner> pool_of(const storage::Database& db, const std::optional<Label>& label) {
  auto pool = storage::all_runners(db);
  if (!label) return pool;
  std::erase_if(pool, [&](const Runner& runner) {
    const auto found = runner.labels.find(label->first);
    return found == runner.labels.end() || found->second != label->second;
  });
  return pool;
}

const Described<Demand>& demand_row() {
  static const Described<Demand> made(
      "Demand", "How many runners of a pool would have something to do.",
      {{"runners", &Demand::runners, "That ever registered, live or not."},
       {"queued", &Demand::queued, "Sessions and builds that one of them could claim."},
       {"held", &Demand::held, "Jobs that one of them holds."},
       {"nights", &Demand::nights,
        "That measure now and have no session for this pool, since none of its runners was live."},
       {"wanted", &Demand::wanted, "queued + held; at least 1 while a night waits for the pool."}});
  return made;
}

}  // namespace

void add_demand_routes(Routes& routes) {
  const auto label = label_query();
  // The answer is never cached: nights and builds become due as time passes.
  routes.read(
      {.path = "/api/v1/demand",
       .id = "get_demand",
       .summary = "How many runners have something to do",
       .parameters = {label},
       .answers = {{.schema = demand_row().schema()}}},
      [&context = routes.context, label](storage::Database& db, const web::Request& request) {
        const auto facts = load_demand(db, pool_of(db, label(request)), context.clock.now());
        return json_answer(demand_row().write(decide(facts, context.config)));
      },
      Routes::Kept::never);
}

}  // namespace nightjar::service::api
