// GET /regressions/{id}/evidence and /bisections/{id}/evidence: all that a verdict rests on, for
// `nightjar verify`.
#include "service/api/evidence_bundle.hpp"

#include <set>

#include "bisect/evidence/seal.hpp"
#include "service/api/routes.hpp"
#include "storage/fixes.hpp"
#include "web/secret.hpp"

namespace nightjar::service::api {
using nlohmann::json;
namespace {

// The runs that one verdict names.
void add_runs_of(const json& evidence, std::set<RunId>& runs) {
  for (const char* list : {"tonight_runs", "good_runs", "bad_runs", "source_only_runs",
                           "environment_only_runs", "wheel_only_runs"})
    if (evidence.contains(list))
      for (const RunId run : field<std::vector<RunId>>(evidence, list)) runs.insert(run);
  if (evidence.contains("stage") && evidence.contains("runs"))
    for (const json& run : evidence.at("runs"))
      if (run.contains("run")) runs.insert(field<RunId>(run, "run"));
}

// A fix with its search, which has ended.
struct EndedFix {
  FixSearch fix;
  Bisection search;
};

// A change of a regression's state. A fix has a single one: the end of its search.
struct SealedChange {
  std::string state;
  Time at{};
  std::string evidence;
};

// The evidence on a regression or on a fix.
struct Bundle {
  std::optional<Regression> regression;
  std::optional<EndedFix> fix;
  MachineClass machine;
  std::vector<SealedChange> changes;
  std::vector<storage::StoredRun> runs = {};  // that a verdict names
  std::set<BuildId> builds = {};              // these runs', and both ends
  std::set<JobId> jobs = {};
};

const Row<Regression>& sealed_regression() {
  const auto of_lead = [](auto get) {
    return [get](const Regression& regression, Rows& rows) {
      return of_series(&AffectedSeries::series, get)(regression.series.front(), rows);
    };
  };
  static const Row<Regression> made("", "",
                                    {{"id", &Regression::id},
                                     {"state", &Regression::state},
                                     {"night", &Regression::night},
                                     {"workload", of_lead(&Series::workload_name)},
                                     {"metric", of_lead(&Series::metric)},
                                     {"unit", of_lead(unit_of)},
                                     {"good", &Regression::good, "Id of the last good build."},
                                     {"bad", &Regression::bad, "Id of the first bad build."},
                                     {"culprit", &Regression::culprit, culprit_row()},
                                     {"range", &Regression::range, culprit_row()}});
  return made;
}

const Row<SealedChange>& sealed_change() {
  const auto evidence = [](const SealedChange& change) {
    return parsed_or(change.evidence, json::object());
  };
  static const Row<SealedChange> made(
      "", "",
      {{"state", &SealedChange::state,
        "The state of the regression; for a fix, that of its search."},
       {"at", &SealedChange::at},
       {"evidence", evidence, "", {{"type", "object"}}}});
  return made;
}

const Row<EndedFix>& sealed_fix() {
  const auto of_fix = [](auto get) {
    return [get](const EndedFix& ended) { return std::invoke(get, ended.fix); };
  };
  const auto of_lead = [](auto get) {
    return [get](const EndedFix& ended, Rows& rows) {
      return of_series(&FixSearch::series, get)(ended.fix, rows);
    };
  };
  const auto of_search = [](auto get) {
    return [get](const EndedFix& ended) { return std::invoke(get, ended.search); };
  };
  static const Row<EndedFix> made("", "",
                                  {{"bisection", of_search(&Bisection::id)},
                                   {"state", of_search(&Bisection::state)},
                                   {"night", of_fix(&FixSearch::night)},
                                   {"workload", of_lead(&Series::workload_name)},
                                   {"metric", of_lead(&Series::metric)},
                                   {"unit", of_lead(unit_of)},
                                   {"good", of_search(&Bisection::good), "Id of the build before."},
                                   {"bad", of_search(&Bisection::bad), "Id of the better build."},
                                   {"causes", of_fix(&FixSearch::causes), named_cause_row()}});
  return made;
}

const Row<storage::StoredRun>& sealed_run() {
  using Run = storage::StoredRun;
  static const Row<Run> made(
      "", "",
      {{"id", &Run::id},
       {"job", &Run::job},
       {"build", &Run::build},
       {"result",
        [](const Run& run) { return write_value(run.result); },
        "",
        {{"type", "object"}, {"required", {"order", "status", "samples"}}}}});
  return made;
}

const Row<MachineClass>& sealed_machine() {
  static const Row<MachineClass> made("", "",
                                      {{"id", &MachineClass::id}, {"facts", &MachineClass::facts}});
  return made;
}

Schema seal_schema() {
  return {
      {"type", "object"},
      {"required", {"sha256", "fields"}},
      {"properties",
       {{"sha256", schema_of<Sha256>()
                       .with({{"description", "The hash of the canonical rest of the bundle."}})
                       .text},
        {"fields",
         {{"type", "object"},
          {"description", "Shaped like the bundle: the begin of each field's own SHA-256."}}}}}};
}

template <class T, class Id>
auto found(std::set<Id> Bundle::*ids, std::optional<T> (*find)(const storage::Database&, Id)) {
  return [ids, find](const Bundle& bundle, Rows& rows) {
    std::vector<T> all;
    for (const Id id : bundle.*ids)
      if (auto one = find(rows.db, id)) all.push_back(*std::move(one));
    return all;
  };
}

const Row<Bundle>& bundle_row() {
  static const Row<Bundle> made(
      "EvidenceBundle",
      "Every verdict on one regression or fix, with the rules and the raw samples it was made "
      "from.",
      {{"format",
        [](const Bundle&) { return json("nightjar-evidence"); },
        "",
        {{"const", "nightjar-evidence"}}},
       {"format_version",
        [](const Bundle&) { return json(evidence::sealed_format); },
        "From 2 on there is a seal.",
        {{"const", evidence::sealed_format}}},
       {"nightjar", [](const Bundle&) { return std::string(NIGHTJAR_VERSION); },
        "The version that wrote the bundle."},
       {"regression", &Bundle::regression, sealed_regression(), "null: it is of a fix."},
       {"fix", &Bundle::fix, sealed_fix(), "What got better; null: it is of a regression."},
       {"machine", &Bundle::machine, sealed_machine()},
       {"builds", found<Build, BuildId>(&Bundle::builds, storage::find_build), build_row()},
       {"jobs", found<storage::ListedJob, JobId>(&Bundle::jobs, storage::find_listed_job),
        job_detail(), "The sessions of the runs: what ran in which order, and where."},
       {"runs", &Bundle::runs, sealed_run(),
        "Every run that a verdict names, with all raw samples."},
       {"changes", &Bundle::changes, sealed_change()},
       {"seal", [](const Bundle&) { return json(); },
        "Shows edits made since the bundle was written. It is no signature: anyone can make it.",
        seal_schema()}});
  return made;
}

MachineClass machine_of(const storage::Database& db, MachineId id) {
  auto machine = storage::find_machine(db, id);
  if (!machine) throw std::runtime_error("a verdict without its machine class");
  return *std::move(machine);
}

// Adds the runs of all changes, and seals it.
json sealed(storage::Database& db, Bundle bundle, BuildId good, BuildId bad) {
  bundle.builds = {good, bad};
  std::set<RunId> wanted;
  for (const SealedChange& change : bundle.changes)
    add_runs_of(parsed_or(change.evidence, json::object()), wanted);
  for (const RunId id : wanted)
    if (auto run = storage::find_run(db, id)) {
      bundle.builds.insert(run->build);
      if (const auto build = storage::find_build(db, run->build); build && build->base)
        bundle.builds.insert(*build->base);  // its wheel
      bundle.jobs.insert(run->job);
      bundle.runs.push_back(*std::move(run));
    }
  Rows rows(db);
  json written = bundle_row().write(bundle, rows);
  written.erase("seal");
  written["seal"] = evidence::seal_of(written, web::sha256);
  return written;
}

json bundle_of(storage::Database& db, const Regression& regression) {
  Bundle bundle{regression, {}, machine_of(db, regression.machine), {}};
  for (const RegressionChange& change : storage::changes_of(db, regression.id))
    bundle.changes.push_back({std::string(name_of(change.state)), change.at, change.evidence.text});
  return sealed(db, std::move(bundle), regression.good, regression.bad);
}

// Makes a bundle without changes if the search has not ended: there is nothing to judge yet.
json bundle_of(storage::Database& db, const FixSearch& fix, const Bisection& search) {
  Bundle bundle{{}, EndedFix{fix, search}, machine_of(db, fix.machine), {}};
  if (search.finished_at)
    bundle.changes.push_back(
        {std::string(name_of(search.state)), *search.finished_at, fix.evidence});
  return sealed(db, std::move(bundle), search.good, search.bad);
}

web::Response bundle_of_search(storage::Database& db, const web::Request& request) {
  const auto id = path_id<BisectionId>(request);
  const auto search = storage::find_bisection(db, id);
  if (!search) refuse_unknown("bisection", id.value);
  return json_answer(evidence_of(db, *search));
}

}  // namespace

json evidence_of(storage::Database& db, const Bisection& search) {
  if (search.fix) return bundle_of(db, storage::find_fix_search(db, *search.fix).value(), search);
  return bundle_of(db, storage::find_regression(db, search.regression.value()).value());
}

void add_evidence_routes(Routes& routes) {
  routes.read({.path = "/api/v1/regressions/{id}/evidence",
               .id = "get_regressions_evidence",
               .summary = "All that the verdicts on one regression rest on, raw samples included, "
                          "for `nightjar verify`",
               .answers = {{.schema = bundle_row().schema()}},
               .problems = {no_such_id}},
              [](storage::Database& db, const web::Request& request) {
                const auto id = path_id<RegressionId>(request);
                const auto regression = storage::find_regression(db, id);
                if (!regression) refuse_unknown("regression", id.value);
                return json_answer(bundle_of(db, *regression));
              });
  routes.read({.path = "/api/v1/bisections/{id}/evidence",
               .id = "get_bisections_evidence",
               .summary = "The evidence of a search: of a fix, or of the regression it belongs to",
               .answers = {{.schema = bundle_row().schema()}},
               .problems = {no_such_id}},
              bundle_of_search);
}

}  // namespace nightjar::service::api
