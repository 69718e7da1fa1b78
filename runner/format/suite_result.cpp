#include "runner/format/suite_result.hpp"

#include <stdexcept>

#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_problem.hpp"
#include "storage/model/run_value.hpp"
#include "storage/model/workload_variant.hpp"

namespace nightjar::runner {
namespace {
using nlohmann::json;

SuiteItem item_of(const MeasuredWorkload& workload) {
  const RunStatus status = workload.status;
  SuiteItem item{workload.workload.name,
                 status,
                 workload.reason,
                 accuracy_of(status, compiler_of(workload.workload.name) == "eager"),
                 {}};
  // A workload that says it itself is believed.
  if (workload.accuracy) item.accuracy = *workload.accuracy;
  for (const auto& run : workload.runs)
    for (const auto& [name, samples] : run.samples) {
      if (samples.empty()) continue;
      ItemMetric& metric = item.metrics[name];
      ++metric.runs;
      if (const auto value = value_of(run, name)) metric.values.push_back(*value);
    }
  for (auto& [name, metric] : item.metrics) metric.summary = summarize(metric.values);
  return item;
}

RunStatus status_from(const std::string& status, std::string& reason) {
  if (const auto known = enum_from<RunStatus>(status); known && status != "failed") return *known;
  if (status != "failed") throw std::invalid_argument("'" + status + "' is no status");
  const auto colon = reason.find(": ");
  const auto kind = enum_from<RunStatus>(reason.substr(0, colon));
  if (colon == std::string::npos || !kind) return RunStatus::failed;
  reason.erase(0, colon + 2);
  return *kind;
}

ItemMetric metric_from(const json& value) {
  ItemMetric metric;
  metric.runs = value.at("runs").size();
  for (const auto& run : value.at("values"))
    if (run.is_number()) metric.values.push_back(run.get<double>());
  metric.summary = summarize(metric.values);
  return metric;
}

SuiteItem item_from(const json& value) {
  const auto text = value.at("workload").get<std::string>();
  const auto name = WorkloadName::parse(text);
  if (!name) throw std::invalid_argument("'" + text + "' is no workload's name");
  std::string reason = value.at("reason").is_string() ? value.at("reason").get<std::string>() : "";
  const RunStatus status = status_from(value.at("status").get<std::string>(), reason);
  SuiteItem item{*name, status, reason, accuracy_of(status, name->backend() == "eager"), {}};
  const auto accuracy = value.value("output", json::object()).value("accuracy", json());
  if (const auto word =
          accuracy.is_string() ? enum_from<Accuracy>(accuracy.get<std::string>()) : std::nullopt)
    item.accuracy = *word;
  for (const auto& [metric, numbers] : value.at("metrics").items())
    item.metrics[metric] = metric_from(numbers);
  return item;
}

}  // namespace

std::optional<double> SuiteItem::value(const std::string& metric) const {
  const auto found = metrics.find(metric);
  if (found == metrics.end() || !found->second.summary) return std::nullopt;
  return found->second.summary->location;
}

SuiteResult suite_result(const Measurement& measurement) {
  SuiteResult result{
      measurement.torch.version, measurement.torch.git_version, measurement.machine, {}};
  for (const auto& workload : measurement.workloads) result.items.push_back(item_of(workload));
  return result;
}

SuiteResult read_suite_result(const std::string& text) {
  const auto root = parse_foreign(text);
  if (root.is_discarded()) throw std::invalid_argument("it is not JSON");
  if (!root.is_object() || !root.contains("items") || !root["items"].is_array())
    throw std::invalid_argument("it has no list 'items'");
  SuiteResult result;
  for (const auto& value : root["items"]) try {
      result.items.push_back(item_from(value));
      result.version = value.at("build").at("version").get<std::string>();
      result.commit = value.at("build").at("commit").get<std::string>();
      result.machine = value.at("machine").get<std::map<std::string, std::string>>();
    } catch (const json::exception& error) {
      throw std::invalid_argument("item " + std::to_string(result.items.size()) + ": " +
                                  problem_of(error));
    } catch (const std::exception& error) {  // ours
      throw std::invalid_argument("item " + std::to_string(result.items.size()) + ": " +
                                  error.what());
    }
  return result;
}

std::string contract_status(RunStatus status) {
  const bool own = status == RunStatus::measured || status == RunStatus::unavailable;
  return own ? std::string(name_of(status)) : "failed";
}

std::string contract_reason(RunStatus status, const std::string& reason) {
  if (contract_status(status) != "failed" || status == RunStatus::failed) return reason;
  return std::string(name_of(status)) + ": " + reason;
}

}  // namespace nightjar::runner
