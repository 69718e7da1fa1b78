#include "service/api/rows.hpp"

#include <cmath>
#include <stdexcept>

#include "bisect/statistics.hpp"
#include "storage/model/json_io.hpp"
#include "storage/model/run_value.hpp"

namespace nightjar::service::api {
using nlohmann::json;
namespace {

// What a person reads of a run: its value in each metric's series.
json run_values(const RunResult& result) {
  json values = json::object();
  for (const auto& [metric, samples] : result.samples)
    if (const auto value = value_of(result, metric)) values[metric] = *value;
  return values;
}

}  // namespace

json page_of(json items, std::optional<std::int64_t> next) {
  if (items.is_null()) items = json::array();
  json cursor = nullptr;
  if (next) cursor = std::to_string(*next);
  return json{{"items", std::move(items)}, {"next_cursor", std::move(cursor)}};
}

json id_or_null(std::int64_t id) {
  return id == 0 ? json(nullptr) : json(id);
}
json text_or_null(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

json parsed_or(const std::string& text, json otherwise) {
  auto value = json::parse(text, nullptr, false);
  return value.type() == otherwise.type() ? value : otherwise;
}

std::string unit_of(const std::string& metric) {
  const Metric* known = find_metric(metric);
  return known ? std::string(known->unit) : std::string();
}

Direction direction_of(const std::string& metric) {
  const Metric* known = find_metric(metric);
  return known ? known->direction : Direction::lower_is_better;
}

const Build* Rows::build_of(BuildId id) {
  if (!id) return nullptr;
  if (const auto found = builds_.find(id); found != builds_.end()) return &found->second;
  auto build = storage::find_build(db_, id);
  if (!build) throw std::runtime_error("build " + std::to_string(id.value) + " is not stored");
  return &builds_.emplace(id, *std::move(build)).first->second;
}

const Series& Rows::series_of(SeriesId id) {
  if (const auto found = series_.find(id); found != series_.end()) return found->second;
  auto series = storage::find_series(db_, id);
  if (!series) throw std::runtime_error("series " + std::to_string(id.value) + " is not stored");
  return series_.emplace(id, *std::move(series)).first->second;
}

json Rows::workload_name(WorkloadId id) {
  if (!id) return nullptr;
  auto found = workloads_.find(id);
  if (found == workloads_.end()) {
    auto workload = storage::find_workload(db_, id);
    if (!workload) return nullptr;
    found = workloads_.emplace(id, *std::move(workload)).first;
  }
  return found->second.name;
}

json Rows::build_ref(BuildId id) {
  const Build* build = build_of(id);
  if (!build) return nullptr;
  return json{{"id", build->id},
              {"kind", build->kind},
              {"version", build->version},
              {"date", text_or_null(build->date)},
              {"commit", build->commit}};
}

json Rows::build(const Build& build) {
  json row{{"id", build.id},
           {"kind", build.kind},
           {"version", build.version},
           {"variant", build.variant},
           {"date", text_or_null(build.date)},
           {"url", text_or_null(build.url)},
           {"commit", build.commit},
           {"nightly_commit", build.nightly_commit},
           {"sha256", build.sha256},
           {"base", build.base},
           {"state", build.state},
           {"reason", text_or_null(build.reason)},
           {"found_at", build.found_at}};
  return row;
}

json Rows::workload(const Workload& workload) {
  const auto& name = workload.name;
  return json{{"id", workload.id},           {"name", name},
              {"version", workload.version}, {"suite", name.suite()},
              {"model", name.model()},       {"task", name.task()},
              {"device", name.device()},     {"precision", name.precision()},
              {"batch", name.batch()},       {"backend", name.backend()}};
}

json Rows::series(const Series& series) {
  const NightId any{std::numeric_limits<std::int64_t>::max()};
  json level = nullptr;
  for (const Level& newest : storage::levels_before(db_, series.id, any, 1))
    level = json{{"build", newest.build},
                 {"night", newest.night},
                 {"value", newest.value},
                 {"runs", newest.runs}};
  return json{{"id", series.id},
              {"workload", series.workload},
              {"workload_name", series.workload_name},
              {"workload_version", series.workload_version},
              {"metric", series.metric},
              {"unit", unit_of(series.metric)},
              {"direction", direction_of(series.metric)},
              {"machine", series.machine},
              {"variant", series.variant},
              {"level", std::move(level)}};
}

json Rows::point(const storage::SeriesPoint& point) {
  const auto interval = bisect::hodges_lehmann_interval(point.values, .95);
  return json{{"build", point.build},
              {"version", point.version},
              {"date", text_or_null(point.date)},
              {"values", point.values},
              {"location", bisect::hodges_lehmann(point.values)},
              {"low", interval.low},
              {"high", interval.high}};
}

json Rows::run(const storage::StoredRun& run) {
  const RunResult& result = run.result;
  return json{{"id", run.id},
              {"job", run.job},
              {"night", id_or_null(run.night.value)},
              {"build", id_or_null(run.build.value)},
              {"workload", id_or_null(run.workload.value)},
              {"workload_name", workload_name(run.workload)},
              {"order", result.order},
              {"status", result.status},
              {"reason", text_or_null(result.reason)},
              {"started_at", result.started_at},
              {"seconds", result.seconds},
              {"warmup_iterations", result.warmup_iterations},
              {"checksum", result.checksum},
              {"values", run_values(result)}};
}

json Rows::run_detail(const storage::StoredRun& stored) {
  json row = run(stored);
  row["samples"] = stored.result.samples;
  row["cpu_seconds"] = stored.result.cpu_seconds;
  row["wait_seconds"] = stored.result.wait_seconds;
  row["slowdown"] = stored.result.slowdown;
  return row;
}

}  // namespace nightjar::service::api
