#include "runner/format/measure_output.hpp"

#include <set>

#include "runner/format/benchmark_database.hpp"
#include "runner/format/dynamo.hpp"
#include "runner/format/run_summary.hpp"
#include "runner/format/table.hpp"
#include "runner/format/torchbench_metrics.hpp"
#include "storage/base/terminal.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/run_value.hpp"

namespace nightjar::runner {
using OrderedJson = nlohmann::ordered_json;
namespace {

std::set<std::string> metrics_of(const MeasuredWorkload& workload) {
  std::set<std::string> names;
  for (const auto& run : workload.runs)
    for (const auto& [name, samples] : run.samples)
      if (!samples.empty()) names.insert(name);
  return names;
}

OrderedJson reason_of(const MeasuredWorkload& workload) {
  if (workload.status == RunStatus::measured) return nullptr;
  return contract_reason(workload.status, workload.reason);
}

OrderedJson metric_json(const MeasuredWorkload& workload, const std::string& name) {
  std::vector<double> known_values;
  OrderedJson runs = OrderedJson::array(), values = OrderedJson::array();
  for (const auto& run : workload.runs)
    if (const auto found = run.samples.find(name); found != run.samples.end()) {
      const auto value = value_of(run, name);
      if (value) known_values.push_back(*value);
      runs.push_back(found->second);
      values.push_back(value ? OrderedJson(*value) : OrderedJson(nullptr));
    }
  const auto summary = summarize(known_values);
  const auto of_summary = [&](double Summary::*member) {
    return summary ? OrderedJson(*summary.*member) : OrderedJson(nullptr);
  };
  const Metric* known = find_metric(name);
  return {{"unit", known ? OrderedJson(known->unit) : OrderedJson(nullptr)},
          {"location", of_summary(&Summary::location)},
          {"low", of_summary(&Summary::low)},
          {"high", of_summary(&Summary::high)},
          {"cv", of_summary(&Summary::cv)},
          {"values", values},
          {"runs", runs}};
}

OrderedJson item_json(const MeasuredWorkload& workload, const Measurement& measurement) {
  OrderedJson metrics = OrderedJson::object();
  for (const auto& name : metrics_of(workload)) metrics[name] = metric_json(workload, name);
  OrderedJson checksum = nullptr;
  if (!workload.runs.empty() && workload.runs.front().checksum)
    checksum = *workload.runs.front().checksum;
  return {
      {"workload", workload.workload.name.str()},
      {"version", workload.workload.version},
      {"status", contract_status(workload.status)},
      {"reason", reason_of(workload)},
      {"details", workload.details.empty() ? OrderedJson(nullptr) : OrderedJson(workload.details)},
      {"build",
       {{"version", measurement.torch.version}, {"commit", measurement.torch.git_version}}},
      {"machine", measurement.machine},
      {"settings", workload.settings},
      {"metrics", metrics},
      {"output",
       {{"checksum", checksum},
        {"accuracy",
         workload.accuracy ? OrderedJson(name_of(*workload.accuracy)) : OrderedJson(nullptr)}}}};
}

}  // namespace

std::string measurement_json(const Measurement& measurement) {
  OrderedJson items = OrderedJson::array();
  for (const auto& workload : measurement.workloads)
    items.push_back(item_json(workload, measurement));
  const nlohmann::json before = measurement.before, after = measurement.after;
  const OrderedJson root{{"items", items}, {"state", {{"before", before}, {"after", after}}}};
  return root.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string formatted(const SuiteResult& result, const std::string& format) {
  if (format == "csv") return performance_csv(dynamo_rows(result));
  if (format == "accuracy-csv") return accuracy_csv(dynamo_rows(result));
  if (format == "torchbench") return torchbench_metrics_json(result);
  if (format == "database") return benchmark_database_json(result);
  return shown_lines(measurement_table(result));
}

}  // namespace nightjar::runner
