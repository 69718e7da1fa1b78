#include "runner/format/dynamo.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "storage/model/workload_variant.hpp"

namespace nightjar::runner {
namespace {

// The model in its task, device and precision: what variants by batch and backend have in common.
bool is_eager(const WorkloadName& name) {
  return compiler_of(name) == "eager";
}

// They differ in nothing but what compiled them.
bool differ_in_backend(const WorkloadName& one, const WorkloadName& other) {
  return threads_of(one) == threads_of(other) &&
         one.variant(one.precision(), one.batch(), other.backend()) == other;
}

const SuiteItem* eager_of(const SuiteResult& result, const SuiteItem& item) {
  if (is_eager(item.name)) return &item;
  for (const SuiteItem& other : result.items)
    if (is_eager(other.name) && differ_in_backend(item.name, other.name) &&
        other.status == RunStatus::measured)
      return &other;
  return nullptr;
}

std::optional<double> ratio(std::optional<double> above, std::optional<double> below) {
  if (!above || !below || !(*below > 0)) return std::nullopt;
  return *above / *below;
}

std::optional<double> scaled(std::optional<double> value, double factor) {
  return value ? std::optional(*value * factor) : std::nullopt;
}

// No graph is captured in eager mode, and nothing compiled: that is known, not unmeasured.
std::optional<double> count(const SuiteItem& item, const char* metric) {
  return is_eager(item.name) ? 0 : item.value(metric);
}

DynamoRow row_of(const SuiteResult& result, const SuiteItem& item) {
  DynamoRow row{
      item.name, item.accuracy, item.status == RunStatus::measured, {}, {}, {}, {}, {}, {}, {}, {},
      {}};
  if (!row.measured) return row;
  const SuiteItem* eager = eager_of(result, item);
  const char* peak = item.name.device() == "cpu" ? "peak_cpu_memory" : "peak_gpu_memory";
  row.latency_ms = scaled(item.value("latency"), 1e3);
  row.speedup = item.value("speedup");
  if (!row.speedup && eager == &item) row.speedup = 1;
  if (!row.speedup && eager) row.speedup = ratio(eager->value("latency"), item.value("latency"));
  row.compile_seconds = count(item, "compile_time");
  row.peak_gb = scaled(item.value(peak), 1e-9);
  if (eager) row.eager_peak_gb = scaled(eager->value(peak), 1e-9);
  // A CPU's peaks hold the compiler, which a workload's own ratio does not.
  row.compression_ratio = item.value("compression_ratio");
  if (!row.compression_ratio && (item.name.device() != "cpu" || eager == &item))
    row.compression_ratio = ratio(row.eager_peak_gb, row.peak_gb);
  row.calls_captured = count(item, "calls_captured");
  row.unique_graphs = count(item, "unique_graphs");
  row.graph_breaks = count(item, "graph_breaks");
  return row;
}

// dynamo's scripts read the batch as a whole number; 0 stands for unknown there.
std::string batch_text(const DynamoRow& row) {
  const std::string batch(row.workload.batch().substr(1));
  const bool number =
      std::all_of(batch.begin(), batch.end(), [](unsigned char c) { return std::isdigit(c); });
  return row.measured && number ? batch : "0";
}

std::string number_text(std::optional<double> value, const char* format) {
  if (!value) return "";
  char text[64];
  std::snprintf(text, sizeof text, format, *value);
  return text;
}

std::string first_columns(const DynamoRow& row) {
  return std::string(row.workload.device()) + "," + std::string(row.workload.model()) + "," +
         batch_text(row);
}

std::string counts(const DynamoRow& row) {
  return "," + number_text(row.calls_captured, "%.0f") + "," +
         number_text(row.unique_graphs, "%.0f") + "," + number_text(row.graph_breaks, "%.0f");
}

bool has_compiled(const std::vector<DynamoRow>& rows, const WorkloadName& name) {
  return std::any_of(rows.begin(), rows.end(), [&](const DynamoRow& row) {
    return !is_eager(row.workload) && differ_in_backend(row.workload, name);
  });
}

std::vector<DynamoRow> rows_to_write(const std::vector<DynamoRow>& rows) {
  std::vector<DynamoRow> chosen;
  for (const DynamoRow& row : rows)
    if (!is_eager(row.workload) || !has_compiled(rows, row.workload)) chosen.push_back(row);
  return chosen;
}

}  // namespace

std::vector<DynamoRow> dynamo_rows(const SuiteResult& result) {
  std::vector<DynamoRow> rows;
  for (const SuiteItem& item : result.items) rows.push_back(row_of(result, item));
  return rows;
}

std::string performance_csv(const std::vector<DynamoRow>& rows) {
  std::string out =
      "dev,name,batch_size,speedup,abs_latency,compilation_latency,compression_ratio,"
      "eager_peak_mem,dynamo_peak_mem,calls_captured,unique_graphs,graph_breaks,workload\n";
  for (const DynamoRow& row : rows_to_write(rows)) {
    out += first_columns(row);
    const auto zero = row.measured ? std::nullopt : std::optional(0.0);
    for (const auto& value : {row.speedup, row.latency_ms, row.compile_seconds,
                              row.compression_ratio, row.eager_peak_gb, row.peak_gb})
      out += "," + number_text(zero ? zero : value, "%.6f");
    out += counts(row) + "," + row.workload.str() + "\n";
  }
  return out;
}

std::string accuracy_csv(const std::vector<DynamoRow>& rows) {
  std::string out =
      "dev,name,batch_size,accuracy,calls_captured,unique_graphs,graph_breaks,workload\n";
  for (const DynamoRow& row : rows_to_write(rows))
    out += first_columns(row) + "," + std::string(name_of(row.accuracy)) + counts(row) + "," +
           row.workload.str() + "\n";
  return out;
}

}  // namespace nightjar::runner
