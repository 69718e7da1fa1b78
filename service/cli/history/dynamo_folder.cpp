// CSV files of PyTorch's benchmarks/dynamo: performance, accuracy, and the accuracy that its CI
// expects.
#include <set>
#include <stdexcept>

#include "service/cli/csv_file.hpp"
#include "service/cli/history/formats.hpp"
#include "service/cli/model_results.hpp"

namespace nightjar::cli {
namespace {

struct Column {
  const char *name, *metric;
  double factor;
};
constexpr Column kColumns[] = {{"speedup", "speedup", 1},
                               {"abs_latency", "latency", 1e-3},
                               {"compilation_latency", "compile_time", 1},
                               {"compression_ratio", "compression_ratio", 1},
                               {"unique_graphs", "unique_graphs", 1},
                               {"graph_breaks", "graph_breaks", 1}};

WorkloadWords dynamo_words(const CsvFile& file, const std::vector<std::string>& row) {
  if (const auto name = WorkloadName::parse(file.text(row, "workload"))) {
    const auto text = [](std::string_view part) { return std::string(part); };
    return {text(name->suite()),  text(name->model()),     text(name->task()),
            text(name->device()), text(name->precision()), text(name->batch()),
            text(name->backend())};
  }
  const Group group = group_of_file(file.path);
  const std::string device = file.text(row, "dev");
  // The batch size is left out: dynamo writes 0 for a model that failed, and searches for the
  // largest that fits, and a series must not break for that.
  return {group.suite,     file.text(row, "name"),
          group.task,      group.device.empty() ? device : group.device,
          group.precision, "",
          group.backend};
}

// nullopt where the model did not come as far as the compiler.
std::optional<bool> accuracy_passed(const std::string& accuracy) {
  static const std::set<std::string> good{"pass", "pass_due_to_skip", "eager_variation"};
  static const std::set<std::string> unknown{"",
                                             "model_fail_to_load",
                                             "infra_error",
                                             "eager_fail_to_run",
                                             "eager_1st_run_OOM",
                                             "eager_1st_run_fail",
                                             "eager_2nd_run_OOM",
                                             "eager_2nd_run_fail",
                                             "eager_two_runs_differ",
                                             "no_evidence"};
  if (unknown.contains(accuracy)) return std::nullopt;
  return good.contains(accuracy);
}

void add_row(NightReader& values, const CsvFile& file, const std::vector<std::string>& row) {
  const WorkloadWords words = dynamo_words(file, row);
  const std::string source = file.text(row, "name");
  const bool performance = file.has("speedup");
  const auto speedup = file.number(row, "speedup");
  const bool failed = performance && speedup == 0.0;
  if (file.has("accuracy")) {
    const std::string word = file.text(row, "accuracy");
    values.add_accuracy(words, word);
    if (const auto good = accuracy_passed(word)) values.add_outcome(words, *good);
  } else if (performance && speedup) {
    values.add_outcome(words, !failed);
  }
  if (failed) return;
  for (const Column& column : kColumns)
    if (const auto value = file.number(row, column.name))
      values.add(words, {column.metric, column.factor}, {*value}, source);
  if (const auto peak = file.number(row, "dynamo_peak_mem"))
    values.add(words, {peak_memory_on(words.device), 1e9}, {*peak}, source);
}

}  // namespace

Reading read_dynamo(const ResultFile& file) {
  const CsvFile csv = parse_csv(file.place, file.text);
  if (!csv.has("speedup") && !csv.has("accuracy"))
    throw std::invalid_argument("it has neither a column 'speedup' nor 'accuracy'");
  const When place = when_of(file.place);
  HistoryNight night;
  night.measured_at = require_time(place.time);
  night.commit = place.commit;
  night.origin = file.place;
  Reading reading;
  NightReader values(reading, "", night);
  for (const auto& row : csv.rows) add_row(values, csv, row);
  values.finish();
  return reading;
}

}  // namespace nightjar::cli
