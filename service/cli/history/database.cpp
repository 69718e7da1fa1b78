// PyTorch's benchmark database, schema version 3.
#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include "service/cli/history/fields.hpp"
#include "service/cli/history/formats.hpp"
#include "service/cli/model_results.hpp"
#include "storage/base/digest.hpp"
#include "storage/base/foreign_number.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_problem.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/pytorch_words.hpp"

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

// Settings of dynamo's runner that make another compiler of the same backend.
struct CompilerSetting {
  const char *name, *word;
};
constexpr CompilerSetting compiler_settings[] = {
    {"dynamic_shapes", "dynamic"},           {"dynamic_batch_only", "dynamic_batch"},
    {"cpp_wrapper", "cpp_wrapper"},          {"freezing", "freezing"},
    {"export_aot_inductor", "aot_inductor"}, {"disable_cudagraphs", "no_cudagraphs"},
    {"max_autotune", "max_autotune"}};

// The database keeps every setting as a text, Python's way.
bool is_nothing(const std::string& text) {
  return text.empty() || text == "None" || text == "null" || text == "False" || text == "false" ||
         text == "auto" || text == "[]";
}

bool is_set(const json& value) {
  if (value.is_string()) {
    const std::string text = value.get<std::string>();
    return text == "true" || text == "True" || text == "1";
  }
  return value == true || value == 1;
}

// "inductor_with_cudagraphs" where the runner's output is named by it, as PyTorch's dashboard
// reads it; else the settings, of which the database knows only what the runner was called with.
std::string configured_compiler(const std::string& backend, const json& extra) {
  const std::string output = text_field(extra, "output");
  const std::string named = output.empty() ? "" : group_of_file(output).backend;
  std::string words = named.empty() ? backend : named;
  const auto add = [&](const std::string& word) {
    if (!is_nothing(word) && words.find(word) == std::string::npos) words += "_" + word;
  };
  for (const CompilerSetting& setting : compiler_settings)
    if (const auto found = extra.find(setting.name); found != extra.end() && is_set(*found))
      add(setting.word);
  const std::string mode = text_field(extra, "inductor_compile_mode");
  if (mode != "default") add(mode);
  add(text_field(extra, "quantization"));
  if (const auto list = extra.find("inductor_config"); list != extra.end() && list->is_array())
    for (const json& one : *list)
      if (one.is_string()) add(one.get<std::string>());
  return words;
}

// True for what describes one run rather than how it is measured: a path, a name, a time.
bool is_of_one_run(const std::string& key, const json& value) {
  static const std::set<std::string> words{
      "output", "path",   "dir",       "file",        "filename", "host",  "hostname", "port",
      "url",    "date",   "timestamp", "id",          "uuid",     "token", "log",      "profile",
      "trace",  "result", "results",   "description", "device",   "dev",   "arch",     "batch_size",
      "suite",  "prefix", "metadata",  "download",    "seed",     "save",  "devices",  "model"};
  for (std::size_t begin = 0; begin <= key.size();) {
    const auto end = std::min(key.find_first_of("_-. ", begin), key.size());
    if (words.contains(key.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  if (words.contains(key)) return true;
  constexpr std::size_t longest = 100;
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  return text.size() > longest || text.starts_with('/') || text.find("://") != std::string::npos;
}

// A line for each setting. What is off or not given is left out, so that a new one which nobody
// uses changes nothing.
void add_settings(std::set<std::string>& lines, const json& owner) {
  for (const auto& [key, value] : owner.items()) {
    const bool given = value == true ||
                       (value.is_string() && !is_nothing(value.get<std::string>())) ||
                       value.is_number_integer();
    if (given && !is_of_one_run(key, value)) lines.insert(key + "=" + value.dump());
  }
}

// With a digest of the settings that the benchmark was called with: two of them are no series.
std::string configured_backend(const std::string& backend, const std::string& benchmark,
                               const json& extra) {
  if (benchmark == "TorchInductor") return configured_compiler(backend, extra);
  std::set<std::string> lines;
  add_settings(lines, extra);
  add_settings(lines, object_field(extra, "args"));
  if (lines.empty()) return backend;
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return backend + (backend.empty() ? "" : "-") + digest_of(all).str().substr(0, 8);
}

struct RecordName {
  WorkloadWords words, outcome;
  KnownMetric metric;
  bool is_ours = false;  // `nightjar-runner convert` wrote it
};

// Words that name a kind of device where a runner's name should stand.
bool is_kind_of_device(const std::string& name) {
  static const std::set<std::string> kinds{"cuda", "rocm", "hip", "cpu", "xpu",
                                           "mps",  "hpu",  "tpu", "xla", "gpu"};
  return kinds.contains(name);
}

const json& runner_of(const json& record) {
  static const json none = json::object();
  const auto runners = record.find("runners");
  const bool any = runners != record.end() && runners->is_array() && !runners->empty();
  return any && runners->front().is_object() ? runners->front() : none;
}

// PyTorch's CI writes "cuda", "rocm" or nothing as the name, and the GPU as the type.
std::string record_class(const json& record) {
  const json& runner = runner_of(record);
  const json& extra = object_field(object_field(record, "benchmark"), "extra_info");
  const std::string name = text_field(runner, "name");
  return first_of({is_kind_of_device(name) ? "" : name, text_field(runner, "type"),
                   text_field(runner, "gpu_info"), text_field(extra, "arch"), name,
                   text_field(runner, "cpu_info")});
}

std::string record_device(const json& record) {
  const json& extra = object_field(object_field(record, "benchmark"), "extra_info");
  const std::string name = text_field(runner_of(record), "name");
  return first_of(
      {text_field(extra, "device"), text_field(extra, "dev"), is_kind_of_device(name) ? name : ""});
}

// Where the model comes from, such as "torchbench". "pytorch" says nothing: most of PyTorch's own
// benchmarks write it.
std::string record_suite(const json& record) {
  const json& model = object_field(record, "model");
  const auto origins = model.find("origins");
  const bool any = origins != model.end() && origins->is_array() && !origins->empty() &&
                   origins->front().is_string();
  const std::string origin = any ? origins->front().get<std::string>() : "";
  const json& benchmark = object_field(record, "benchmark");
  return first_of({origin == "pytorch" ? "" : origin,
                   text_field(object_field(benchmark, "extra_info"), "suite"),
                   text_field(benchmark, "name"), origin});
}

// The accuracy is checked with a small batch of its own.
bool is_of_accuracy(const json& extra) {
  return text_field(extra, "output").find("_accuracy") != std::string::npos;
}

RecordName record_name(const json& record) {
  const json& benchmark = object_field(record, "benchmark");
  const json& extra = object_field(benchmark, "extra_info");
  const json& model = object_field(record, "model");
  const std::string metric = text_field(object_field(record, "metric"), "name");
  if (metric.empty()) throw std::invalid_argument("its metric has no name");
  // What `nightjar-runner convert` wrote says it all.
  if (const auto ours = WorkloadName::parse(text_field(extra, "nightjar_workload"));
      ours && find_metric(metric)) {
    const WorkloadWords words = words_of(*ours);
    return {words, words, {metric, 1}, true};
  }
  WorkloadWords words{
      record_suite(record),
      first_of({text_field(model, "name"), text_field(benchmark, "name")}),
      word_of_ours(text_field(benchmark, "mode")),
      record_device(record),
      word_of_ours(text_field(benchmark, "dtype")),
      is_of_accuracy(extra) ? "" : text_field(extra, "batch_size"),
      configured_backend(text_field(model, "backend"), text_field(benchmark, "name"), extra)};
  const WorkloadWords outcome = outcome_words(words);
  if (const auto known = known_metrics().find(metric); known != known_metrics().end()) {
    KnownMetric found = known->second;
    if (found.metric == "peak memory") found.metric = peak_memory_on(words.device);
    return {std::move(words), outcome, std::move(found)};
  }
  const KnownMetric foreign =
      foreign_metric(words, metric, text_field(object_field(record, "metric"), "unit"));
  return {std::move(words), outcome, foreign};
}

// What stands in `benchmark_values`: numbers, and words such as "pass", for which the database has
// no other place than `extra_info`.
struct RecordValues {
  std::vector<double> numbers;
  std::vector<std::string> words;
  int nulls = 0;
};

RecordValues record_values(const json& metric) {
  RecordValues found;
  const auto add = [&](const json& one) {
    if (one.is_number()) found.numbers.push_back(one.get<double>());
    if (one.is_null()) ++found.nulls;
    if (one.is_string()) found.words.push_back(one.get<std::string>());
  };
  const auto add_all = [&](const json& values) {
    if (values.is_array())
      std::for_each(values.begin(), values.end(), add);
    else
      add(values);
  };
  for (const json* owner : {&metric, &object_field(metric, "extra_info")}) {
    const auto values = owner->find("benchmark_values");
    if (values == owner->end()) continue;
    // The database keeps extra_info as texts: "[\"pass\"]".
    const std::string text = values->is_string() ? values->get<std::string>() : "";
    const json list = text.starts_with('[') ? parse_foreign(text) : json();
    add_all(list.is_array() ? list : *values);
  }
  return found;
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
      const json found = parse_foreign_or_throw(one);
      if (found.is_array())
        records.insert(records.end(), found.begin(), found.end());
      else
        records.push_back(found);
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
    const RecordValues values = record_values(object_field(record, "metric"));
    NightReader& night = night_of(record);
    if (says_outcome(name, values, night)) return;
    for (const std::string& word : values.words) ++reading_.unmeasured["'" + word + "'"];
    if (values.nulls > 0) reading_.unmeasured["null or NaN"] += values.nulls;
    if (values.numbers.empty() && values.words.empty() && values.nulls == 0)
      ++reading_.unmeasured["no value"];
    night.add(name.words, name.metric, values.numbers,
              text_field(object_field(record, "metric"), "name") + " of record " +
                  object_field(record, "benchmark").dump() + object_field(record, "model").dump());
  }
  void finish() {
    for (auto& [key, night] : nights_) night.finish();
  }

 private:
  // True if that is all that the record says.
  bool says_outcome(const RecordName& name, const RecordValues& values, NightReader& night) {
    // In our own export only a failed workload has this record.
    if (name.metric.metric == failures_metric) {
      const bool failed = values.numbers != std::vector<double>{0};
      night.add_outcome(name.outcome, !failed);
      return true;
    }
    if (name.is_ours) return false;
    if (name.metric.foreign == "accuracy" && !values.words.empty()) {
      const std::string& word = values.words.front();
      night.add_accuracy(name.outcome, word);
      if (const auto good = accuracy_passed(word)) night.add_outcome(name.outcome, *good);
      return true;
    }
    if (name.metric.metric != "speedup") return false;
    const bool zero =
        !values.numbers.empty() && values.numbers == std::vector<double>(values.numbers.size());
    const bool failing_word = !values.words.empty() && enum_from<Accuracy>(values.words.front()) &&
                              accuracy_passed(values.words.front()) == false;
    if (zero || failing_word)
      night.add_failure(name.words, name.outcome);
    else if (!values.numbers.empty())
      night.add_outcome(name.outcome, true);
    return zero || failing_word;
  }

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
    return nights_.try_emplace(key, reading_, machine, night, file_.directions).first->second;
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
  for (FoundNight& found : reading.nights) found.any_batch = true;
  if (reading.nights.empty() && !reading.left_out.empty())
    throw std::invalid_argument(reading.left_out.front());
  return reading;
}

}  // namespace nightjar::cli
