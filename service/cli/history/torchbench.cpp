// TorchBench, today's userbenchmarks and the pytest-benchmark files before them.
#include <stdexcept>

#include "service/cli/history/fields.hpp"
#include "service/cli/history/formats.hpp"
#include "storage/base/pattern.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_problem.hpp"

namespace nightjar::cli {
namespace {
using nlohmann::json;

constexpr double milli = 1e-3, gigabyte = 1e9;

json parse_metrics(const ResultFile& file) {
  try {
    auto root = parse_foreign_or_throw(json_of_python(file.text));
    if (!root.is_object()) throw std::invalid_argument("it is no JSON object");
    return root;
  } catch (const json::exception& error) {
    throw std::invalid_argument(problem_of(error));
  }
}

struct TestName {
  WorkloadWords words;
  KnownMetric metric;
};

// What our own export has no other place for: "python/resnet18-bf16-b4".
void take_apart(WorkloadWords& words) {
  static const Pattern batch("(.+)-(b[1-9][0-9]*)"),
      precision("(.+)-(fp32|fp16|bf16|fp64|amp|amp_bf16|amp_fp16|tf32)");
  if (const auto found = batch.match(words.model)) {
    words.batch = found->at(2);
    words.model = found->at(1);
  }
  if (const auto found = precision.match(words.model)) {
    words.precision = found->at(2);
    words.model = found->at(1);
  }
  const auto slash = words.model.find('/');
  if (slash == std::string::npos) return;
  words.suite = words.model.substr(0, slash);
  words.model.erase(0, slash + 1);
}

// test_eval[resnet50-cuda-eager]
std::optional<WorkloadWords> words_of_test(const std::string& name, const std::string& precision) {
  static const Pattern pattern(R"(test_([A-Za-z]+)\[(.+)-([A-Za-z]+)-([A-Za-z0-9_]+)\])");
  const auto found = pattern.match(name);
  if (!found) return std::nullopt;
  WorkloadWords words{"torchbench", found->at(2), found->at(1), found->at(3),
                      precision,    "",           found->at(4)};
  take_apart(words);
  return words;
}

std::optional<KnownMetric> metric_of_ending(const std::string& ending, const std::string& device) {
  if (ending == "latency" || ending == "iter_latencies" || ending == "latencies")
    return KnownMetric{"latency", milli};
  if (ending == "cmem" || ending == "cpu_peak_mem") return KnownMetric{"peak_cpu_memory", gigabyte};
  if (ending == "gmem" || ending == "gpu_peak_mem")
    return KnownMetric{device == "cpu" ? "peak_cpu_memory" : "peak_gpu_memory", gigabyte};
  return std::nullopt;
}

TestName named(WorkloadWords words, const std::string& ending) {
  if (const auto known = metric_of_ending(ending, words.device)) return {std::move(words), *known};
  KnownMetric metric = foreign_metric(words, ending);
  return {std::move(words), std::move(metric)};
}

// torch-nightly: test_eval[resnet50-cuda-eager]_latency
std::optional<TestName> of_nightly(const std::string& text) {
  const auto end = text.rfind("]_");
  if (end == std::string::npos) return std::nullopt;
  auto words = words_of_test(text.substr(0, end + 1), "fp32");
  if (!words) return std::nullopt;
  return named(std::move(*words), text.substr(end + 2));
}

// "inductor" of "--torchdynamo inductor", and all else that test_bench was called with.
std::string backend_of(const std::string& arguments) {
  std::string words;
  for (std::size_t begin = 0; begin < arguments.size();) {
    const auto end = std::min(arguments.find_first_of("[]', =", begin), arguments.size());
    std::string word = arguments.substr(begin, end - begin);
    word.erase(0, std::min(word.find_first_not_of('-'), word.size()));
    begin = end + 1;
    if (!word.empty() && word != "None" && word != "torchdynamo")
      words += (words.empty() ? "" : "_") + word;
  }
  return words;
}

// test_bench: model=resnet50, test=eval, device=cuda, bs=None, extra_args=[], metric=latencies
std::optional<TestName> of_test_bench(const std::string& text) {
  static const Pattern pattern(
      "model=(.*), test=(.*), device=(.*), bs=(.*), extra_args=(.*), metric=(.*)");
  const auto found = pattern.match(text);
  if (!found) return std::nullopt;
  WorkloadWords words{"torchbench", found->at(1), found->at(2), found->at(3),
                      "fp32",       found->at(4), "eager"};
  static const Pattern precision("--precision'?[,= ]+'?([a-z0-9_]+)'?,?");
  std::string arguments = found->at(5);
  if (const auto chosen = precision.search(arguments)) {
    words.precision = chosen->at(1);
    arguments.erase(arguments.find(chosen->at(0)), chosen->at(0).size());
  }
  if (const std::string backend = backend_of(arguments); !backend.empty()) words.backend = backend;
  return named(std::move(words), found->at(6));
}

// cpu: timm_regnet-eval_latency
std::optional<TestName> of_cpu(const std::string& text) {
  static const Pattern pattern(
      "(.+)-(train|eval)_(latency|iter_latencies|throughput|iter_throughputs|cmem)");
  const auto found = pattern.match(text);
  if (!found) return std::nullopt;
  WorkloadWords words{"torchbench", found->at(1), found->at(2), "cpu", "fp32", "", "eager"};
  // The iterations and their mean are one metric. The iterations are preferred.
  std::string ending = found->at(3);
  if (ending == "iter_throughputs") ending = "throughput";
  return named(std::move(words), ending);
}

// optim: resnet50, Adam, cuda, default, foreach. Seconds.
std::optional<TestName> of_optim(const std::string& text, const std::string& benchmark) {
  if (benchmark != "optim") return std::nullopt;
  static const Pattern pattern("([^,]+), (?:optim\\.)?([^,]+), (cuda|cpu)(?:, (.*))?");
  const auto found = pattern.match(text);
  if (!found) return std::nullopt;
  std::string rest = found->at(4);
  const bool compiling = rest.find("compile_time") != std::string::npos;
  const bool compiled = compiling || rest.find("pt2") != std::string::npos;
  if (rest.empty()) rest = "default";
  const WorkloadWords words{"torchbench-optim",
                            found->at(1) + "." + found->at(2) + "." + rest,
                            "optim",
                            found->at(3),
                            "fp32",
                            "",
                            compiled ? "inductor" : "eager"};
  return TestName{words, {compiling ? "compile_time" : "latency", 1}};
}

TestName test_name_of(const std::string& text, const std::string& benchmark,
                      const std::string& device) {
  if (auto name = of_nightly(text)) return *name;
  if (auto name = of_cpu(text)) return *name;
  if (auto name = of_optim(text, benchmark)) return *name;
  WorkloadWords words{"torchbench-" + benchmark, "", "bench", device, "", "", ""};
  const KnownMetric metric = foreign_metric(words, text, benchmark);
  return {words, metric};
}

// An instance of the CPU's userbenchmark, cpu-DATE/alexnet-eval-eager/metrics-PID.json, names only
// the metric: model, test and mode stand in the folder's name.
std::optional<WorkloadWords> words_of_instance(const std::string& place) {
  static const Pattern pattern(
      "(?:.*/)?([^/]+)-(train|eval)(?:-([A-Za-z0-9]+))?/metrics-[0-9]+\\.json");
  const auto found = pattern.match(place);
  if (!found) return std::nullopt;
  const std::string mode = found->at(3);
  return WorkloadWords{
      "torchbench", found->at(1), found->at(2), "cpu", "fp32", "", mode.empty() ? "eager" : mode};
}

// What stands where a number should, in a few words: an error's text may be a whole traceback.
std::string word_in_place(const json& value) {
  if (value.is_null()) return "null or NaN";
  if (!value.is_string()) return "no number";
  constexpr std::size_t most_at_once = 40;
  const std::string text = value.get<std::string>();
  const auto end = text.find_last_not_of(" \t\r\n") + 1;
  const auto begin = text.substr(0, end).rfind('\n') + 1;
  return "'" + text.substr(begin, std::min(end - begin, most_at_once)) + "'";
}

std::vector<double> numbers_of(const json& value, Reading& reading) {
  std::vector<double> numbers;
  const json list = value.is_array() ? value : json::array({value});
  for (const auto& one : list) {
    if (one.is_number())
      numbers.push_back(one.get<double>());
    else
      ++reading.unmeasured[word_in_place(one)];
  }
  return numbers;
}

// A mean beside its samples has the same name; the samples are kept.
bool has_samples(const json& metrics, const std::string& name) {
  const auto ends = [&](const char* ending, const char* samples) {
    if (!name.ends_with(ending)) return false;
    return metrics.contains(name.substr(0, name.size() - std::string(ending).size()) + samples);
  };
  return ends("_latency", "_iter_latencies") || ends("_throughput", "_iter_throughputs");
}

}  // namespace

Reading read_torchbench(const ResultFile& file) {
  const json root = parse_metrics(file);
  const json& environ = object_field(root, "environ");
  const When place = when_of(file.place);
  HistoryNight night;
  night.version = text_field(environ, "pytorch_version");
  const auto written = time_in_version(night.version);
  night.measured_at = require_time(place.time ? place.time : written);
  night.commit = CommitSha::parse(text_field(environ, "pytorch_git_version"));
  if (!night.commit) night.commit = place.commit;
  night.origin = file.place;
  const std::string device = text_field(environ, "device");
  const bool on_cpu = device.empty() || device.find("CPU") != std::string::npos;
  const std::string benchmark = text_field(root, "name");
  const json& metrics = object_field(root, "metrics");
  Reading reading;
  NightReader values(reading, device, night, file.directions);
  const auto instance = words_of_instance(file.place);
  for (const auto& [name, value] : metrics.items()) {
    if (has_samples(metrics, name)) continue;
    const auto of_bench = of_test_bench(name);
    const auto of_instance = instance && name.find_first_of("-[,") == std::string::npos
                                 ? std::optional(named(*instance, name))
                                 : std::nullopt;
    const TestName known = of_bench      ? *of_bench
                           : of_instance ? *of_instance
                                         : test_name_of(name, benchmark, on_cpu ? "cpu" : "cuda");
    // test_bench writes an error's text in place of a number.
    if (of_bench && value != "not_implemented") values.add_outcome(known.words, value.is_number());
    values.add(known.words, known.metric, numbers_of(value, reading), name);
  }
  values.finish();
  if (instance)
    for (FoundNight& found : reading.nights) found.is_instance = true;
  return reading;
}

Reading read_pytest(const ResultFile& file) {
  const json root = parse_metrics(file);
  const json& machine = object_field(root, "machine_info");
  const When place = when_of(file.place);
  HistoryNight night;
  night.version = text_field(machine, "pytorch_version");
  std::string at = text_field(root, "datetime");
  if (const auto end = at.find_first_of("+."); end != std::string::npos) at.resize(end);
  const auto stated = parse_rfc3339(at.ends_with('Z') ? at : at + "Z");
  night.measured_at = require_time(stated ? stated : place.time);
  night.commit = CommitSha::parse(text_field(machine, "pytorch_git_version"));
  if (!night.commit && night.version.empty())
    night.commit = CommitSha::parse(text_field(object_field(root, "commit_info"), "id"));
  night.origin = file.place;
  Reading reading;
  NightReader values(reading, text_field(machine, "node"), night, file.directions);
  for (const auto& one : root.at("benchmarks")) {
    const std::string name = text_field(one, "name");
    const json& stats = object_field(one, "stats");
    auto words = words_of_test(name, "fp32");
    if (!words) words = WorkloadWords{"pytest", name, "bench", "cpu", "", "", ""};
    const json median = stats.contains("median") ? stats["median"] : json();
    const bool whole = stats.contains("data") && stats["data"].is_array() && !stats["data"].empty();
    values.add(*words, {"latency", 1}, numbers_of(whole ? stats["data"] : median, reading), name);
  }
  values.finish();
  return reading;
}

}  // namespace nightjar::cli
