// CSV files of PyTorch's benchmarks/dynamo: performance, accuracy, and the accuracy that its CI
// expects.
#include <map>
#include <set>
#include <stdexcept>

#include "service/cli/csv_file.hpp"
#include "service/cli/history/formats.hpp"
#include "service/cli/model_results.hpp"

namespace nightjar::cli {
namespace {

using CsvRow = std::vector<std::string>;

struct Column {
  const char *name, *metric;
  double factor;
};
constexpr Column dynamo_columns[] = {{"speedup", "speedup", 1},
                                     {"abs_latency", "latency", 1e-3},
                                     {"compilation_latency", "compile_time", 1},
                                     {"compression_ratio", "compression_ratio", 1},
                                     {"unique_graphs", "unique_graphs", 1},
                                     {"graph_breaks", "graph_breaks", 1}};
// Columns that are no metric, or are read on their own.
const std::set<std::string> describing{"",         "dev",      "name",           "batch_size",
                                       "workload", "accuracy", "dynamo_peak_mem"};
// What eager mode takes, and counts that say what the compiler saw.
const std::set<std::string> columns_not_taken{"eager_peak_mem",
                                              "calls_captured",
                                              "unique_graph_breaks",
                                              "autograd_captures",
                                              "autograd_compiles",
                                              "cudagraph_skips",
                                              "tag"};

struct RowName {
  WorkloadWords words, outcome;
};

RowName row_name(const CsvFile& file, const CsvRow& row) {
  if (const auto name = WorkloadName::parse(file.text(row, "workload"))) {
    const WorkloadWords words = words_of(*name);
    return {words, words};
  }
  const Group group = group_of_file(file.path);
  const std::string device = file.text(row, "dev");
  const WorkloadWords words{
      group.suite,     file.text(row, "name"),
      group.task,      group.device.empty() ? device : group.device,
      group.precision, file.has("speedup") ? file.text(row, "batch_size") : "",
      group.backend};
  return {words, outcome_words(words)};
}

class RowReader {
 public:
  RowReader(Reading& reading, NightReader& values, const CsvFile& file)
      : reading_(reading), values_(values), file_(file) {}

  void add(const CsvRow& row) {
    const auto [words, outcome] = row_name(file_, row);
    if (add_outcome(row, words, outcome)) return;
    for (const std::string& column : file_.columns) {
      const auto cell = file_.cell(row, column);
      if (!cell || describing.contains(column)) continue;
      if (columns_not_taken.contains(column))
        ++reading_.not_taken[column];
      else
        add_cell(row, *cell, column, words);
    }
    if (const auto peak = file_.cell(row, "dynamo_peak_mem"))
      add_value(row, *peak, words, {peak_memory_on(words.device), 1e9});
  }

 private:
  // True for a row that failed: its numbers only stand for that.
  bool add_outcome(const CsvRow& row, const WorkloadWords& words, const WorkloadWords& outcome) {
    const bool performance = file_.has("speedup");
    const std::optional<bool> passed = outcome_of(file_, row).passed;
    const bool failed = performance && passed == false;
    if (file_.has("accuracy")) {
      const std::string word = file_.text(row, "accuracy");
      values_.add_accuracy(outcome, word);
      if (const auto good = accuracy_passed(word)) values_.add_outcome(outcome, *good);
    }
    if (failed)
      values_.add_failure(words, outcome);
    else if (performance && passed && !file_.has("accuracy"))
      values_.add_outcome(outcome, true);
    return failed;
  }

  void add_cell(const CsvRow& row, const CsvCell& cell, const std::string& column,
                WorkloadWords words) {
    for (const Column& one : dynamo_columns)
      if (column == one.name) return add_value(row, cell, words, {one.metric, one.factor});
    if (!cell.number) {
      ++reading_.not_taken[column];
      return;
    }
    const KnownMetric foreign = foreign_metric(words, column);
    add_value(row, cell, words, foreign);
  }

  void add_value(const CsvRow& row, const CsvCell& cell, const WorkloadWords& words,
                 const KnownMetric& metric) {
    if (cell.number)
      values_.add(words, metric, {*cell.number}, file_.text(row, "name"));
    else
      ++reading_.unmeasured["'" + cell.word + "'"];
  }

  Reading& reading_;
  NightReader& values_;
  const CsvFile& file_;
};

// Which rows count. A model that was tried again stands twice: the last row counts. One that failed
// has batch 0.
std::vector<bool> last_rows(const CsvFile& file) {
  std::vector<bool> last(file.rows.size(), true);
  std::map<std::vector<std::string>, std::set<std::string>> batches;
  for (std::size_t i = file.rows.size(); i-- > 0;) {
    const auto text = [&](const char* column) { return file.text(file.rows[i], column); };
    const std::string batch = text("batch_size") == "0" ? "" : text("batch_size");
    std::set<std::string>& later = batches[{text("name"), text("dev"), text("workload")}];
    last[i] = later.empty() || (!batch.empty() && !later.contains("") && !later.contains(batch));
    later.insert(batch);
  }
  return last;
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
  reading.left_out = csv.refused;
  NightReader values(reading, architecture_of_file(file.place), night, file.directions);
  RowReader rows(reading, values, csv);
  const std::vector<bool> last = last_rows(csv);
  for (std::size_t i = 0; i < csv.rows.size(); ++i) {
    if (last[i])
      rows.add(csv.rows[i]);
    else
      reading.left_out.push_back("row " + std::to_string(i + 1) + " of " +
                                 csv.text(csv.rows[i], "name") + ": a later row says it again");
  }
  values.finish();
  for (FoundNight& found : reading.nights) found.any_batch = true;
  return reading;
}

}  // namespace nightjar::cli
