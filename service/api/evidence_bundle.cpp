// GET /regressions/{id}/evidence: all that a verdict rests on, for `nightjar verify`.
#include <nlohmann/json.hpp>
#include <set>

#include "bisect/evidence/seal.hpp"
#include "service/api/query.hpp"
#include "service/api/routes.hpp"
#include "service/api/rows.hpp"
#include "storage/model/json_io.hpp"
#include "web/secret.hpp"

namespace nightjar::service::api {
using nlohmann::json;
namespace {

// The runs that one verdict names.
void add_runs_of(const json& evidence, std::set<RunId>& runs) {
  for (const char* list : {"tonight_runs", "good_runs", "bad_runs"})
    if (evidence.contains(list))
      for (const RunId run : field<std::vector<RunId>>(evidence, list)) runs.insert(run);
  if (evidence.contains("stage") && evidence.contains("runs"))
    for (const json& run : evidence.at("runs"))
      if (run.contains("run")) runs.insert(field<RunId>(run, "run"));
}

json machine_json(storage::Database& db, MachineId id) {
  const auto machine = storage::find_machine(db, id);
  return {{"id", id}, {"facts", machine ? json(machine->facts) : json::object()}};
}

class Bundle {
 public:
  Bundle(storage::Database& db, const Regression& regression)
      : db_(db), rows_(db), regression_(regression) {}

  json make() {
    json row = rows_.regression_detail(regression_);
    json changes = std::move(row["changes"]);
    std::set<RunId> wanted;
    for (const json& change : changes) add_runs_of(change.at("evidence"), wanted);
    const Series& lead = rows_.series_of(regression_.series.front().series);
    json regression{{"id", regression_.id},       {"state", regression_.state},
                    {"night", regression_.night}, {"workload", lead.workload_name},
                    {"metric", lead.metric},      {"unit", unit_of(lead.metric)},
                    {"good", regression_.good},   {"bad", regression_.bad},
                    {"culprit", row["culprit"]}};
    json runs = runs_of(wanted);
    json bundle{{"format", "nightjar-evidence"},
                {"format_version", evidence::sealed_format},
                {"nightjar", NIGHTJAR_VERSION},
                {"regression", std::move(regression)},
                {"machine", machine_json(db_, regression_.machine)},
                {"builds", builds()},
                {"jobs", jobs()},
                {"runs", std::move(runs)},
                {"changes", std::move(changes)}};
    bundle["seal"] = evidence::seal_of(bundle, web::sha256);
    return bundle;
  }

 private:
  json runs_of(const std::set<RunId>& wanted) {
    json list = json::array();
    for (const RunId id : wanted) {
      const auto stored = storage::find_run(db_, id);
      if (!stored) continue;
      builds_.insert(stored->build);
      jobs_.insert(stored->job);
      list.push_back({{"id", stored->id},
                      {"job", stored->job},
                      {"build", stored->build},
                      {"result", stored->result}});
    }
    return list;
  }

  json builds() {
    builds_.insert({regression_.good, regression_.bad});
    json list = json::array();
    for (const BuildId id : builds_)
      if (const Build* build = rows_.build_of(id)) list.push_back(rows_.build(*build));
    return list;
  }

  // In which order the sessions ran what, and where.
  json jobs() {
    json list = json::array();
    for (const JobId id : jobs_)
      if (const auto job = storage::find_job(db_, id)) list.push_back(rows_.job_detail(*job));
    return list;
  }

  storage::Database& db_;
  Rows rows_;
  const Regression& regression_;
  std::set<BuildId> builds_;
  std::set<JobId> jobs_;
};

}  // namespace

void add_evidence_routes(web::Server& server, Context& context) {
  add_read(server, context, "/api/v1/regressions/{id}/evidence", {},
           [](storage::Database& db, const web::Request& request) {
             const auto id = path_id<RegressionId>(request);
             const auto regression = storage::find_regression(db, id);
             if (!regression) refuse_unknown("regression", id.value);
             return json_answer(Bundle(db, *regression).make());
           });
}

}  // namespace nightjar::service::api
