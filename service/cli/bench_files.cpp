#include "service/cli/bench_files.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>
#include <map>
#include <stdexcept>

#include "bisect/statistics.hpp"
#include "service/cli/history/asv_file.hpp"
#include "service/cli/history/reading.hpp"
#include "service/cli/metric_direction.hpp"
#include "service/cli/series_order.hpp"
#include "storage/base/foreign_number.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::cli {
namespace {

using nlohmann::json;

std::optional<double> sample_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? std::optional(found->get<double>())
                                                     : std::nullopt;
}

// The numbers of a list; others, such as null, are left out.
std::vector<double> numbers_in(const json& object, const char* key) {
  std::vector<double> numbers;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return numbers;
  for (const json& one : *found)
    if (one.is_number()) numbers.push_back(one.get<double>());
  return numbers;
}

// Whether it is a list of objects that all have this key.
bool is_list_of(const json& list, const char* key) {
  return list.is_array() && !list.empty() &&
         std::all_of(list.begin(), list.end(),
                     [&](const json& one) { return one.is_object() && one.contains(key); });
}

bool holds_list_of(const json& root, const char* list, const char* key) {
  return root.is_object() && root.contains(list) && is_list_of(root[list], key);
}

// Samples, else the first of these aggregates that is there.
std::vector<double> samples_or(std::vector<double> samples, const json& object,
                               std::initializer_list<const char*> aggregates) {
  for (const char* key : aggregates)
    if (const auto number = samples.empty() ? sample_in(object, key) : std::nullopt)
      samples.push_back(*number);
  return samples;
}

// Each run of the command is a process.
BenchFile hyperfine(const json& root) {
  BenchFile file{"hyperfine", {}};
  for (const json& one : root["results"]) {
    BenchValue value{text_in(one, "command"), "s", Direction::lower_is_better, {}, false, ""};
    value.samples = samples_or(numbers_in(one, "times"), one, {"median", "mean"});
    file.values.push_back(std::move(value));
  }
  return file;
}

const json& object_in(const json& object, const char* key) {
  static const json nothing_read = json::object();
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : nothing_read;
}

// The folder may be no repository, and its files may have changes that no commit has.
void take_commit(BenchFile& file, const json& root) {
  const json& info = object_in(root, "commit_info");
  const auto dirty = info.find("dirty");
  const bool is_changed = dirty == info.end() || !dirty->is_boolean() || dirty->get<bool>();
  file.date = date_in(text_in(root, "datetime"));
  if (is_changed || !date_in(text_in(info, "time"))) return;
  file.commit = text_in(info, "id");
  file.date = date_in(text_in(info, "time"));
}

BenchFile pytest_benchmark(const json& root) {
  BenchFile file{"pytest-benchmark", {}};
  take_commit(file, root);
  for (const json& one : root["benchmarks"]) {
    const std::string full = text_in(one, "fullname");
    BenchValue value{
        full.empty() ? text_in(one, "name") : full, "s", Direction::lower_is_better, {}, true, ""};
    const json& stats = one["stats"];
    if (stats.is_object())
      value.samples = samples_or(numbers_in(stats, "data"), stats, {"median", "mean"});
    file.values.push_back(std::move(value));
  }
  return file;
}

// Repetitions are entries of their own. Aggregates repeat them, so they count where nothing else is
// there. Rates stand beside the time.
class GoogleBenchmark {
 public:
  explicit GoogleBenchmark(const json& root)
      : date_(date_in(text_in(object_in(root, "context"), "date"))) {
    for (const json& one : root["benchmarks"])
      if (text_in(one, "run_type") != "aggregate") add(one);
    if (values_.empty())
      for (const json& one : root["benchmarks"])
        if (text_in(one, "aggregate_name") == "median") add(one);
  }
  BenchFile file() const {
    BenchFile file{"Google Benchmark", {}};
    for (const auto& [name, value] : values_) file.values.push_back(value);
    file.date = date_;
    return file;
  }

 private:
  void add(const json& one) {
    const std::string run = text_in(one, "run_name");
    const std::string name = run.empty() ? text_in(one, "name") : run;
    const auto failed = one.find("error_occurred");
    if (failed != one.end() && failed->is_boolean() && failed->get<bool>()) {
      BenchValue& value = at(name, "", Direction::lower_is_better);
      value.failure = text_in(one, "error_message");
      if (value.failure.empty()) value.failure = "it failed";
      return;
    }
    const std::string unit = text_in(one, "time_unit");
    add_sample(name, unit.empty() ? "ns" : unit, Direction::lower_is_better,
               sample_in(one, "real_time"));
    for (const char* rate : {"bytes_per_second", "items_per_second"})
      add_sample(name + " " + rate, "1/s", Direction::higher_is_better, sample_in(one, rate));
  }
  void add_sample(const std::string& name, const std::string& unit, Direction direction,
                  std::optional<double> sample) {
    if (sample) at(name, unit, direction).samples.push_back(*sample);
  }
  BenchValue& at(const std::string& name, const std::string& unit, Direction direction) {
    return values_.try_emplace(name, BenchValue{name, unit, direction, {}, true, ""}).first->second;
  }

  const std::optional<Time> date_;
  std::map<std::string, BenchValue> values_;
};

// A fork is a process; its iterations are one sample. Modes: thrpt counts operations, all others
// take times.
BenchFile jmh(const json& root) {
  BenchFile file{"JMH", {}};
  for (const json& one : root) {
    std::string name = text_in(one, "benchmark");
    if (const auto parameters = one.find("params");
        parameters != one.end() && parameters->is_object())
      for (const auto& [key, value] : parameters->items())
        name += " " + key + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
    const json& metric = one["primaryMetric"];
    if (!metric.is_object()) continue;
    BenchValue value{
        name,
        text_in(metric, "scoreUnit"),
        text_in(one, "mode") == "thrpt" ? Direction::higher_is_better : Direction::lower_is_better,
        {},
        false,
        ""};
    const auto forks = metric.find("rawData");
    std::vector<std::vector<double>> of_forks;
    if (forks != metric.end() && forks->is_array())
      for (const json& fork : *forks) {
        const json wrapped{{"fork", fork}};
        if (auto numbers = numbers_in(wrapped, "fork"); !numbers.empty())
          of_forks.push_back(std::move(numbers));
      }
    value.of_one_process = of_forks.size() == 1;
    for (const auto& fork : of_forks) {
      if (value.of_one_process)
        value.samples = fork;
      else
        value.samples.push_back(bisect::median(fork));
    }
    value.samples = samples_or(std::move(value.samples), metric, {"score"});
    file.values.push_back(std::move(value));
  }
  return file;
}

// target/criterion/GROUP/BENCHMARK/new/sample.json: the benchmark is the folder above "new".
std::string criterion_name(const std::filesystem::path& path) {
  std::vector<std::string> parts;
  for (const auto& part : path.parent_path().parent_path()) parts.push_back(part.string());
  const auto begin = std::find(parts.rbegin(), parts.rend(), "criterion").base();
  std::string name;
  for (auto part = begin; part != parts.end(); ++part) name += (name.empty() ? "" : "/") + *part;
  return name.empty() ? path.stem().string() : name;
}

std::vector<double> criterion_samples(const json& root, const char* counts, const char* times) {
  const auto iterations = numbers_in(root, counts), all = numbers_in(root, times);
  std::vector<double> samples;
  for (std::size_t i = 0; i < std::min(iterations.size(), all.size()); ++i)
    if (iterations[i] > 0) samples.push_back(all[i] / iterations[i]);
  return samples;
}

BenchFile criterion(const json& root, const std::filesystem::path& path) {
  BenchValue value{criterion_name(path), "ns", Direction::lower_is_better, {}, true, ""};
  if (root.contains("iters")) {
    value.samples = criterion_samples(root, "iters", "times");
  } else {
    for (const char* estimate : {"slope", "median", "mean"})
      if (value.samples.empty() && root.contains(estimate) && root[estimate].is_object())
        value.samples = samples_or({}, root[estimate], {"point_estimate"});
  }
  return {"Criterion", {value}};
}

bool is_asv(const json& root) {
  return root.is_object() && root.contains("commit_hash") && root.contains("results") &&
         root["results"].is_object();
}

// Which of a benchmark's samples are of one process, the file does not say.
std::optional<BenchFile> asv(const json& root) {
  BenchFile file{"asv", {}};
  file.commit = text_in(root, "commit_hash");
  if (const auto milliseconds = sample_in(root, "date"))
    file.date =
        nearest_time(std::chrono::milliseconds(clamped_integer<std::int64_t>(*milliseconds)));
  std::vector<std::string> left_out;
  try {
    for (const AsvOutcome& outcome : asv_outcomes(root, left_out))
      for (std::size_t i = 0; i < outcome.names.size(); ++i) {
        const std::string unit = asv_kind(outcome.benchmark).unit;
        const Direction direction =
            unit.empty() ? direction_of(asv_method(outcome.benchmark)) : Direction::lower_is_better;
        file.values.push_back({asv_name(outcome, i), unit, direction, outcome.values[i], true, ""});
        if (outcome.values[i].empty()) file.values.back().failure = "it failed or was skipped";
      }
  } catch (const json::exception&) {  // a result that is none
    return std::nullopt;
  }
  for (const std::string& line : left_out)
    file.values.push_back({line.substr(0, line.find(": ")),
                           "",
                           Direction::unknown,
                           {},
                           true,
                           line.substr(line.find(": ") + 2)});
  return file;
}

std::optional<double> perf_counter(const json& line) {
  const auto found = line.find("counter-value");
  if (found == line.end()) return std::nullopt;
  if (found->is_number()) return found->get<double>();
  if (!found->is_string()) return std::nullopt;
  const auto& text = found->get_ref<const std::string&>();  // "1234.50", "<not counted>"
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                  : std::nullopt;
}

// Objects, one a line: of perf stat -j, of cargo-criterion's messages. With perf's -r a value is
// the mean of the runs.
std::optional<BenchFile> lines_of_objects(std::string_view text) {
  BenchFile file;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with('{')) continue;
    const json one = parse_foreign(line);
    if (!one.is_object()) return std::nullopt;
    if (one.contains("counter-value") && one.contains("event")) {
      file.program = "perf stat";
      BenchValue value{
          text_in(one, "event"), text_in(one, "unit"), Direction::lower_is_better, {}, false, ""};
      if (const auto counted = perf_counter(one))
        value.samples.push_back(*counted);
      else
        value.failure = text_in(one, "counter-value");
      file.values.push_back(std::move(value));
    } else if (text_in(one, "reason") == "benchmark-complete") {
      file.program = "cargo-criterion";
      file.values.push_back({text_in(one, "id"), text_in(one, "unit"), Direction::lower_is_better,
                             criterion_samples(one, "iteration_count", "measured_values"), true,
                             ""});
    }
  }
  return file.values.empty() ? std::nullopt : std::optional(std::move(file));
}

// The value of an attribute in the tag that begins at `from`.
std::string xml_attribute(std::string_view text, std::size_t from, std::string_view name) {
  const std::string_view tag = text.substr(from, text.find('>', from) - from);
  const auto at = tag.find(" " + std::string(name) + "=\"");
  if (at == std::string_view::npos) return "";
  const auto begin = at + name.size() + 3;
  std::string value(tag.substr(begin, tag.find('"', begin) - begin));
  constexpr std::pair<std::string_view, std::string_view> entities[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}};
  for (const auto& [entity, character] : entities)
    for (auto found = value.find(entity); found != std::string::npos;
         found = value.find(entity, found + 1))
      value.replace(found, entity.size(), character);
  return value;
}

// Catch2's XML has the mean of a benchmark, in nanoseconds.
std::optional<BenchFile> catch2(std::string_view text) {
  if (text.substr(0, 4096).find("<Catch") == std::string_view::npos) return std::nullopt;
  BenchFile file{"Catch2", {}};
  std::string test;
  for (auto at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("<TestCase ")) test = xml_attribute(text, at, "name");
    if (!rest.starts_with("<BenchmarkResults ")) continue;
    const auto end = text.find("</BenchmarkResults>", at), mean = text.find("<mean ", at);
    BenchValue value{test + "/" + xml_attribute(text, at, "name"),
                     "ns",
                     Direction::lower_is_better,
                     {},
                     true,
                     ""};
    if (mean < end) {
      const std::string number = xml_attribute(text, mean, "value");
      double nanoseconds = 0;
      const auto read = std::from_chars(number.data(), number.data() + number.size(), nanoseconds);
      if (read.ec == std::errc() && !number.empty()) value.samples.push_back(nanoseconds);
    }
    file.values.push_back(std::move(value));
  }
  return file;
}

struct BenchFormat {
  std::string_view program, name;
};
constexpr BenchFormat known_formats[] = {{"hyperfine", "hyperfine"},
                                         {"pytest-benchmark", "pytest-benchmark"},
                                         {"Google Benchmark", "google-benchmark"},
                                         {"Criterion", "criterion"},
                                         {"JMH", "jmh"},
                                         {"Catch2", "catch2"},
                                         {"asv", "asv"},
                                         {"perf stat", "perf"},
                                         {"cargo-criterion", "criterion"}};

}  // namespace

std::vector<std::string> bench_formats() {
  std::vector<std::string> names;
  for (const BenchFormat& one : known_formats)
    if (std::find(names.begin(), names.end(), one.name) == names.end())
      names.emplace_back(one.name);
  return names;
}

std::string_view format_of(const BenchFile& file) {
  return std::find_if(std::begin(known_formats), std::end(known_formats),
                      [&](const BenchFormat& one) { return one.program == file.program; })
      ->name;
}

std::optional<BenchFile> read_bench_file(const std::filesystem::path& path, std::string_view text) {
  if (const auto first = text.find_first_not_of(" \t\r\n"); first != std::string_view::npos)
    text.remove_prefix(first);
  if (text.starts_with('<')) return catch2(text);
  const json root = parse_foreign(json_of_python(text));
  if (root.is_discarded() || (root.is_object() && root.contains("reason")) ||
      (root.is_object() && root.contains("counter-value")))
    return lines_of_objects(text);
  if (is_asv(root)) return asv(root);
  if (holds_list_of(root, "results", "command")) return hyperfine(root);
  if (holds_list_of(root, "benchmarks", "stats")) return pytest_benchmark(root);
  if (holds_list_of(root, "benchmarks", "name") && root.contains("context"))
    return GoogleBenchmark(root).file();
  if (is_list_of(root, "primaryMetric")) return jmh(root);
  const bool has_estimates = root.is_object() && root.contains("mean") && root.contains("median") &&
                             root["median"].is_object() &&
                             root["median"].contains("point_estimate");
  if (has_estimates || (root.is_object() && root.contains("iters") && root.contains("times")))
    return criterion(root, path);
  return std::nullopt;
}

}  // namespace nightjar::cli
