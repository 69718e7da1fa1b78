// PyTorch's benchmark database, schema version 3.
#include <chrono>
#include <map>
#include <stdexcept>
#include <tuple>

#include "runner/format/pytorch_words.hpp"
#include "service/cli/history/fields.hpp"
#include "service/cli/history/formats.hpp"
#include "service/cli/model_results.hpp"
#include "storage/base/foreign_number.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_problem.hpp"
#include "storage/model/metric.hpp"

namespace nightjar::cli {
namespace {
using nlohmann::json;

// dynamo's columns, by whose names its records go.
const std::map<std::string, KnownMetric>& known_metrics() {
  static const std::map<std::string, KnownMetric> known{
      {"speedup", {"speedup", 1}},
      {"abs_latency", {"latency", 1e-3}},
      {"compilation_latency", {"compile_time", 1}},
      {"compression_ratio", {"compression_ratio", 1}},
      {"unique_graphs", {"unique_graphs", 1}},
      {"graph_breaks", {"graph_breaks", 1}},
      {"dynamo_peak_mem", {"peak memory", 1e9}}};
  return known;
}

std::string first_of(std::initializer_list<std::string> texts) {
  for (const std::string& text : texts)
    if (!text.empty()) return text;
  return "";
}

struct RecordName {
  WorkloadWords words;
  KnownMetric metric;
};

RecordName record_name(const json& record) {
  const json& benchmark = object_field(record, "benchmark");
  const json& extra = object_field(benchmark, "extra_info");
  const json& model = object_field(record, "model");
  const std::string metric = text_field(object_field(record, "metric"), "name");
  if (metric.empty()) throw std::invalid_argument("its metric has no name");
  // What `nightjar-runner convert` wrote says it all.
  if (const auto ours = WorkloadName::parse(text_field(extra, "nightjar_workload"));
      ours && find_metric(metric)) {
    const auto text = [](std::string_view part) { return std::string(part); };
    return {{text(ours->suite()), text(ours->model()), text(ours->task()), text(ours->device()),
             text(ours->precision()), text(ours->batch()), text(ours->backend())},
            {metric, 1}};
  }
  WorkloadWords words{first_of({text_field(extra, "suite"), text_field(benchmark, "name")}),
                      first_of({text_field(model, "name"), text_field(benchmark, "name")}),
                      runner::word_of_ours(text_field(benchmark, "mode")),
                      first_of({text_field(extra, "device"), text_field(extra, "dev")}),
                      runner::word_of_ours(text_field(benchmark, "dtype")),
                      text_field(extra, "batch_size"),
                      text_field(model, "backend")};
  if (const auto known = known_metrics().find(metric); known != known_metrics().end()) {
    KnownMetric found = known->second;
    if (found.metric == "peak memory") found.metric = peak_memory_on(words.device);
    return {std::move(words), std::move(found)};
  }
  const KnownMetric foreign = foreign_metric(words, metric);
  return {std::move(words), foreign};
}

std::string record_class(const json& record) {
  const auto runners = record.find("runners");
  if (runners == record.end() || !runners->is_array() || runners->empty()) return "";
  const json& runner = runners->front();
  return runner.is_object() ? first_of({text_field(runner, "name"), text_field(runner, "type")})
                            : "";
}

// Seconds, unless they would be in the far future: then milliseconds.
std::optional<Time> record_time(const json& record) {
  const auto found = record.find("timestamp");
  if (found == record.end() || !found->is_number()) return std::nullopt;
  const double number = found->get<double>();
  if (!(number > 0) || number > 1e14) return std::nullopt;
  const double seconds = number > 1e11 ? number / 1e3 : number;
  return Time(std::chrono::microseconds(clamped_integer<std::int64_t>(seconds * 1e6)));
}

std::vector<json> records_in(const std::string& text) {
  std::vector<json> records;
  const std::string clean = json_of_python(text);
  const auto whole = parse_foreign(clean);
  if (whole.is_array()) return whole.get<std::vector<json>>();
  if (whole.is_object()) return {whole};
  std::size_t line = 1;
  for (std::size_t begin = 0; begin < clean.size(); ++line) {
    const auto end = std::min(clean.find('\n', begin), clean.size());
    const std::string one = clean.substr(begin, end - begin);
    begin = end + 1;
    if (one.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      records.push_back(parse_foreign_or_throw(one));
    } catch (const json::exception& error) {
      throw std::invalid_argument("line " + std::to_string(line) + ": " + problem_of(error));
    }
  }
  return records;
}

// Records of a file may be of several nights.
using RecordNight = std::tuple<Time, std::string, std::string>;  // time, commit, machine class

class RecordNights {
 public:
  RecordNights(Reading& reading, const ResultFile& file) : reading_(reading), file_(file) {}

  void add(const json& record) {
    if (!record.is_object()) throw std::invalid_argument("it is no object");
    const RecordName name = record_name(record);
    std::vector<double> values;
    for (const auto& one : object_field(record, "metric").value("benchmark_values", json::array()))
      if (one.is_number()) values.push_back(one.get<double>());
    if (values.empty()) ++reading_.unmeasured;
    night_of(record).add(name.words, name.metric, values,
                         text_field(object_field(record, "metric"), "name") + " of record " +
                             object_field(record, "benchmark").dump() +
                             object_field(record, "model").dump());
  }
  void finish() {
    for (auto& [key, night] : nights_) night.finish();
  }

 private:
  NightReader& night_of(const json& record) {
    HistoryNight night;
    const auto stated = record_time(record);
    night.measured_at = require_time(stated ? stated : place_.time);
    night.commit = CommitSha::parse(text_field(record, "head_sha"));
    if (!night.commit) night.commit = place_.commit;
    night.version =
        text_field(object_field(object_field(record, "dependencies"), "pytorch"), "version");
    night.origin = file_.place;
    const std::string machine = record_class(record);
    const RecordNight key{night.measured_at, night.commit ? night.commit->str() : "", machine};
    return nights_.try_emplace(key, reading_, machine, night).first->second;
  }

  Reading& reading_;
  const ResultFile& file_;
  const When place_ = when_of(file_.place);
  std::map<RecordNight, NightReader> nights_;
};

}  // namespace

Reading read_database(const ResultFile& file) {
  Reading reading;
  RecordNights nights(reading, file);
  std::size_t number = 0;
  for (const json& record : records_in(file.text)) {
    ++number;
    try {
      nights.add(record);
    } catch (const std::exception& error) {
      reading.left_out.push_back("record " + std::to_string(number) + ": " + error.what());
    }
  }
  nights.finish();
  if (reading.nights.empty() && !reading.left_out.empty())
    throw std::invalid_argument(reading.left_out.front());
  return reading;
}

}  // namespace nightjar::cli
