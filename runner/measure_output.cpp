#include "runner/measure_output.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "storage/model/metric.hpp"

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

// The contract knows three states; the others are kinds of failure and lead the reason.
std::string status_of(const MeasuredWorkload& workload) {
  if (workload.status == RunStatus::measured || workload.status == RunStatus::unavailable)
    return std::string(name_of(workload.status));
  return "failed";
}

OrderedJson reason_of(const MeasuredWorkload& workload) {
  if (workload.status == RunStatus::measured) return nullptr;
  if (workload.status == RunStatus::failed || workload.status == RunStatus::unavailable)
    return workload.reason;
  return std::string(name_of(workload.status)) + ": " + workload.reason;
}

OrderedJson metric_json(const MeasuredWorkload& workload, const std::string& name) {
  const Summary summary = summarize(workload.runs, name);
  OrderedJson runs = OrderedJson::array();
  for (const auto& run : workload.runs)
    if (const auto found = run.samples.find(name); found != run.samples.end())
      runs.push_back(found->second);
  const Metric* known = find_metric(name);
  return {{"unit", known ? OrderedJson(known->unit) : OrderedJson(nullptr)},
          {"location", summary.location},
          {"low", summary.low},
          {"high", summary.high},
          {"cv", summary.cv},
          {"runs", runs}};
}

OrderedJson item_json(const MeasuredWorkload& workload, const Measurement& measurement) {
  OrderedJson metrics = OrderedJson::object();
  for (const auto& name : metrics_of(workload)) metrics[name] = metric_json(workload, name);
  OrderedJson checksum = nullptr;
  if (!workload.runs.empty() && workload.runs.front().checksum)
    checksum = *workload.runs.front().checksum;
  return {{"workload", workload.workload.name.str()},
          {"version", workload.workload.version},
          {"status", status_of(workload)},
          {"reason", reason_of(workload)},
          {"build",
           {{"version", measurement.torch.version}, {"commit", measurement.torch.git_version}}},
          {"machine", measurement.machine},
          {"metrics", metrics},
          {"output",
           {{"checksum", checksum},
            {"accuracy", workload.accuracy.empty() ? OrderedJson(nullptr) : OrderedJson(workload.accuracy)}}}};
}

double location_of(const MeasuredWorkload& workload, const char* metric) {
  return metrics_of(workload).contains(metric) ? summarize(workload.runs, metric).location : 0;
}

// The name without batch size and backend: a row of the table.
std::string row_of(const WorkloadName& name) {
  return name.str().substr(0, name.str().size() - name.batch().size() - name.backend().size() - 2);
}
std::string column_of(const WorkloadName& name) {
  return std::string(name.batch()) + " " + std::string(name.backend());
}

std::string cell_of(const MeasuredWorkload& workload) {
  if (workload.runs.empty()) return status_of(workload);
  const Summary latency = summarize(workload.runs, "latency");
  char text[64];
  std::snprintf(text, sizeof text, "%.4g ms ±%.1f %%", latency.location * 1e3, latency.cv * 100);
  return text;
}

// Columns on a terminal, where ± counts once.
std::string padded(std::string text, std::size_t width) {
  const auto wide = static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  return wide < width ? text + std::string(width - wide, ' ') : text;
}

template <class T>
void add_once(std::vector<T>& list, const T& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

}  // namespace

std::string measurement_json(const Measurement& measurement) {
  OrderedJson items = OrderedJson::array();
  for (const auto& workload : measurement.workloads)
    items.push_back(item_json(workload, measurement));
  const OrderedJson root{{"items", items}};
  return root.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string measurement_csv(const Measurement& measurement) {
  std::string out =
      "dev,name,batch_size,speedup,abs_latency,compilation_latency,compression_ratio,"
      "eager_peak_mem,dynamo_peak_mem,calls_captured,unique_graphs,graph_breaks,workload\n";
  for (const auto& one : measurement.workloads) {
    if (one.runs.empty()) continue;
    const WorkloadName& name = one.workload.name;
    const MeasuredWorkload* eager = &one;
    for (const auto& other : measurement.workloads)
      if (row_of(other.workload.name) == row_of(name) && other.workload.name.backend() == "eager" &&
          other.workload.name.batch() == name.batch() && !other.runs.empty())
        eager = &other;
    const double latency = location_of(one, "latency"), peak = location_of(one, "peak_cpu_memory");
    const double eager_peak = location_of(*eager, "peak_cpu_memory");
    char text[512];
    std::snprintf(text, sizeof text, "%s,%s,%s,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,0,0,0,%s\n",
                  std::string(name.device()).c_str(), std::string(name.model()).c_str(),
                  std::string(name.batch().substr(1)).c_str(),
                  location_of(*eager, "latency") / latency, latency * 1e3,
                  location_of(one, "compile_time"), peak > 0 ? eager_peak / peak : 1.0,
                  eager_peak / 1e9, peak / 1e9, name.str().c_str());
    out += text;
  }
  return out;
}

std::string measurement_table(const Measurement& measurement) {
  std::vector<std::string> rows, columns;
  std::map<std::pair<std::string, std::string>, std::string> cells;
  std::string reasons;
  std::size_t first = 8, width = 8;
  for (const auto& one : measurement.workloads) {
    const std::string row = row_of(one.workload.name), column = column_of(one.workload.name);
    add_once(rows, row);
    add_once(columns, column);
    const std::string cell = cells[{row, column}] = cell_of(one);
    first = std::max(first, row.size() + 2);
    width = std::max({width, cell.size() + 2, column.size() + 2});
    if (one.status != RunStatus::measured)
      reasons += one.workload.name.str() + ": " + reason_of(one).get<std::string>() + "\n";
  }
  std::string out = "PyTorch " + measurement.torch.version + "\n" + padded("workload", first);
  for (const auto& column : columns) out += padded(column, width);
  for (const auto& row : rows) {
    out += '\n';
    out += padded(row, first);
    for (const auto& column : columns) out += padded(cells[{row, column}], width);
  }
  return out + "\n" + (reasons.empty() ? "" : "\n" + reasons);
}

}  // namespace nightjar::runner
