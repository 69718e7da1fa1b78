#include "service/api/rows.hpp"

#include <stdexcept>

#include "bisect/statistics.hpp"
#include "service/api/query.hpp"
#include "service/report/quantity.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/run_value.hpp"
#include "storage/model/workload_variant.hpp"

namespace nightjar::service::api {
using nlohmann::json;
using storage::SeriesPoint;
using storage::StoredRun;
namespace {

// What a person reads of a run: its value in each metric's series.
std::map<std::string, double> run_values(const StoredRun& run, Rows& rows) {
  std::map<std::string, double> values;
  if (run.result.samples.empty()) return storage::values_of_run(rows.db, run.id);
  for (const auto& [metric, samples] : run.result.samples)
    if (const auto value = value_of(run.result, metric)) values[metric] = *value;
  return values;
}

std::optional<Level> newest_level(const Series& series, Rows& rows) {
  const NightId any{std::numeric_limits<std::int64_t>::max()};
  const auto newest = storage::levels_before(rows.db, series.id, any, 1);
  return newest.empty() ? std::nullopt : std::optional(newest.front());
}

bisect::Interval interval(const SeriesPoint& point) {
  return bisect::hodges_lehmann_interval(point.values, .95);
}

template <class M>
auto of_result(M RunResult::*member) {
  return [member](const StoredRun& run) { return run.result.*member; };
}

const Row<Level>& level_row() {
  static const Row<Level> made("Level", "What is taken for normal from a build on.",
                               {{"build", &Level::build},
                                {"night", &Level::night},
                                {"value", &Level::value},
                                {"runs", &Level::runs}});
  return made;
}

}  // namespace

json parsed_or(const std::string& text, json otherwise) {
  auto value = parse_foreign(text);
  return value.type() == otherwise.type() ? value : otherwise;
}

Schema id_schema() {
  return schema_of<BuildId>();
}

std::string unit_of(const Series& series) {
  const Metric* known = find_metric(series.metric);
  return known ? std::string(known->unit) : std::string();
}

Direction direction_of(const Series& series) {
  const Metric* known = find_metric(series.metric);
  return known ? known->direction : Direction::lower_is_better;
}

bool has_ratio(const Series& series) {
  return !has_no_ratio(series.metric);
}

const Build* Rows::build_of(BuildId id) {
  if (!id) return nullptr;
  if (const auto found = builds_.find(id); found != builds_.end()) return &found->second;
  auto build = storage::find_build(db, id);
  if (!build) throw std::runtime_error("build " + std::to_string(id.value) + " is not stored");
  return &builds_.emplace(id, *std::move(build)).first->second;
}

const Series& Rows::series_of(SeriesId id) {
  if (const auto found = series_.find(id); found != series_.end()) return found->second;
  auto series = storage::find_series(db, id);
  if (!series) throw std::runtime_error("series " + std::to_string(id.value) + " is not stored");
  return series_.emplace(id, *std::move(series)).first->second;
}

std::optional<WorkloadName> Rows::workload_name(WorkloadId id) {
  if (!id) return std::nullopt;
  auto found = workloads_.find(id);
  if (found == workloads_.end()) {
    auto workload = storage::find_workload(db, id);
    if (!workload) return std::nullopt;
    found = workloads_.emplace(id, *std::move(workload)).first;
  }
  return found->second.name;
}

namespace {

// A getter of what a build's wheel says of machines.
auto need(std::optional<std::string> BuildNeeds::*member) {
  return [member](const Build& build) { return build.needs.*member; };
}

}  // namespace

const Row<Build>& build_ref() {
  static const Row<Build> made("BuildRef", "A build, named for people.",
                               {{"id", &Build::id},
                                {"kind", &Build::kind},
                                {"version", &Build::version},
                                {"date", or_null(&Build::date), "", {{"format", "date"}}},
                                {"commit", &Build::commit}});
  return made;
}

const Row<Build>& build_row() {
  static const Row<Build> made(
      "Build", "One installable PyTorch and how far its identity is proved.",
      {{"id", &Build::id},
       {"kind", &Build::kind},
       {"version", &Build::version},
       {"variant", &Build::variant},
       {"date",
        or_null(&Build::date),
        "The version's UTC date; null unless a nightly.",
        {{"format", "date"}}},
       {"url", or_null(&Build::url)},
       {"commit", &Build::commit, "The commit on main."},
       {"nightly_commit", &Build::nightly_commit},
       {"sha256", &Build::sha256},
       {"base", &Build::base,
        "The build that an overlay lies on, or whose wheel a crossed one is."},
       {"state", &Build::state},
       {"reason", or_null(&Build::reason), "Why unproved or unusable."},
       {"found_at", &Build::found_at},
       {"python_tag", need(&BuildNeeds::python_tag),
        "For this Python; null here and below: its wheel does not say."},
       {"platform_tag", need(&BuildNeeds::platform_tag)},
       {"glibc", need(&BuildNeeds::glibc), "The oldest that will do."},
       {"gpu_architectures", need(&BuildNeeds::gpu_architectures),
        "sm_N: machine code, compute_N: PTX; empty: no GPU code."},
       {"lock", &Build::lock,
        "The lock of the packages that it is installed with; null: those of the runner's own "
        "Python."}});
  return made;
}

const Row<CiLookup>& ci_lookup_row() {
  static const Row<CiLookup> made(
      "Lookup", "What is known of the wheel that PyTorch's CI built of a commit.",
      {{"id", &CiLookup::id},
       {"commit", &CiLookup::commit},
       {"variant", &CiLookup::variant},
       {"native_state", &CiLookup::native_state, "The commit's native state, if it is known."},
       {"state", &CiLookup::state},
       {"reason", or_null(&CiLookup::reason), "Why absent or failed; else which wheel."},
       {"looked_at", or_null(&CiLookup::looked_at), "What was looked at and where, a line each."},
       {"bytes", &CiLookup::bytes, "Read of archives so far."},
       {"failures", &CiLookup::failures, "In a row."},
       {"build", &CiLookup::build},
       {"wanted_at", &CiLookup::wanted_at},
       {"looked_at_time", &CiLookup::looked_at_time},
       {"retry_at", &CiLookup::retry_at, "When it is looked at (again); null: not by itself."}});
  return made;
}

const Row<Workload>& workload_row() {
  const auto part = [](auto get) {
    return [get](const Workload& workload) { return std::invoke(get, workload.name); };
  };
  static const Row<Workload> made(
      "Workload", "What is run; a changed definition is a new version.",
      {{"id", &Workload::id},
       {"name", &Workload::name, "suite/model/task/device/precision/bN/backend"},
       {"version", &Workload::version},
       {"suite", part(&WorkloadName::suite)},
       {"model", part(&WorkloadName::model)},
       {"task", part(&WorkloadName::task)},
       {"device", part(&WorkloadName::device)},
       {"precision", part(&WorkloadName::precision)},
       {"batch", part(&WorkloadName::batch)},
       {"backend", part(&WorkloadName::backend)},
       {"size", part([](const WorkloadName& name) { return nightjar::size_of(name); }),
        "The size of a model of a published list; null: it has only one size."},
       {"domain", part(domain_of), "As TorchBench or the workload's author says; else unknown.",
        domain_schema()}});
  return made;
}

const Row<Series>& series_row() {
  static const Row<Series> made(
      "Series", "The runs of one workload version and metric on one machine class and variant.",
      {{"id", &Series::id},
       {"workload", &Series::workload},
       {"workload_name", &Series::workload_name},
       {"workload_version", &Series::workload_version},
       {"metric", &Series::metric},
       {"unit", unit_of},
       {"direction", direction_of},
       {"has_ratio", has_ratio, "false: a change is told by its values before and after."},
       {"machine", &Series::machine},
       {"variant", &Series::variant},
       {"domain", [](const Series& series) { return domain_of(series.workload_name); }, "",
        domain_schema()},
       {"level", newest_level, level_row(), "The newest accepted level."}});
  return made;
}

const Row<SeriesPoint>& point_row() {
  static const Row<SeriesPoint> made(
      "SeriesPoint", "The screening runs of one nightly.",
      {{"build", &SeriesPoint::build},
       {"version", &SeriesPoint::version},
       {"date", or_null(&SeriesPoint::date), "", {{"format", "date"}}},
       {"values", &SeriesPoint::values, "One robust location a run."},
       {"location", [](const SeriesPoint& point) { return bisect::hodges_lehmann(point.values); },
        "Hodges-Lehmann location of the values."},
       {"low", [](const SeriesPoint& point) { return interval(point).low; },
        "Lower end of its 95 % interval."},
       {"high", [](const SeriesPoint& point) { return interval(point).high; }}});
  return made;
}

const Row<StoredRun>& run_row() {
  static const Row<StoredRun> made(
      "Run", "One process of one workload on one build.",
      {{"id", &StoredRun::id},
       {"job", &StoredRun::job},
       {"night", or_null(&StoredRun::night)},
       {"build", or_null(&StoredRun::build), "null: a control run."},
       {"workload", or_null(&StoredRun::workload), "null: a control run."},
       {"workload_name",
        [](const StoredRun& run, Rows& rows) { return rows.workload_name(run.workload); }},
       {"order", of_result(&RunResult::order), "Place in its session."},
       {"status", of_result(&RunResult::status)},
       {"reason", [](const StoredRun& run) { return or_null(&RunResult::reason)(run.result); }},
       {"started_at", of_result(&RunResult::started_at)},
       {"seconds", of_result(&RunResult::seconds)},
       {"warmup_iterations", of_result(&RunResult::warmup_iterations)},
       {"checksum", of_result(&RunResult::checksum),
        "Sum of the magnitudes of the workload's output."},
       {"accuracy", of_result(&RunResult::accuracy),
        "Whether the compiled workload computed what eager does, in dynamo's words; null: nothing "
        "was compiled."},
       {"expected_checksum",
        [](const StoredRun& run) {
          const auto& expected = run.result.expected;
          return expected ? std::optional(expected->checksum) : std::nullopt;
        },
        "That of the last build that passed; null: none is known."},
       {"gives_another_result",
        [](const StoredRun& run) { return gives_another_result(run.result); },
        "The checksum differs from the expected one by more than it may: the run counts as "
        "failed."},
       {"values", run_values, "By metric: the median of the run's samples."}});
  return made;
}

const Row<StoredRun>& run_detail() {
  static const Row<StoredRun> made(
      "RunDetail", "A run with all raw samples.", run_row(),
      {{"samples", of_result(&RunResult::samples),
        "By metric: one value an iteration, in order. Empty of a measured run: they were dropped."},
       {"cpu_seconds", of_result(&RunResult::cpu_seconds), "CPU time of each latency iteration."},
       {"wait_seconds", of_result(&RunResult::wait_seconds),
        "Time each latency iteration waited for a CPU."},
       {"slowdown", of_result(&RunResult::slowdown),
        "How much slower than its best a fixed piece of work ran beside each iteration."}});
  return made;
}

}  // namespace nightjar::service::api
