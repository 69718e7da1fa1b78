// Results of airspeed velocity (asv), versions 1 and 2 of its files.
#include <chrono>
#include <map>
#include <stdexcept>

#include "service/cli/history/fields.hpp"
#include "service/cli/history/formats.hpp"
#include "storage/base/digest.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"
#include "storage/model/json_io.hpp"
#include "storage/model/json_problem.hpp"

namespace nightjar::cli {
namespace {
using nlohmann::json;

// What one benchmark came to: a value for each combination of its parameters.
struct Outcome {
  std::vector<std::vector<double>> values;  // empty: failed or not measured
  std::vector<std::string> names;           // of the combinations; "" if there are no parameters
  std::string version = {};                 // of the benchmark's source
};

// 'float64' in place of "'float64'".
std::string plain(const json& parameter) {
  std::string text = parameter.is_string() ? parameter.get<std::string>() : parameter.dump();
  if (text.size() > 1 && text.front() == '\'' && text.back() == '\'')
    text = text.substr(1, text.size() - 2);
  return text;
}

// The last parameter changes first, as in itertools.product.
std::vector<std::string> combinations(const json& parameters) {
  std::vector<std::string> names{""};
  for (const auto& choices : parameters) {
    std::vector<std::string> longer;
    for (const std::string& name : names)
      for (const auto& choice : choices)
        longer.push_back(name + (name.empty() ? "" : "-") + plain(choice));
    names = std::move(longer);
  }
  return names;
}

std::vector<double> asv_numbers(const json& value) {
  std::vector<double> out;
  if (value.is_number()) return {value.get<double>()};
  if (value.is_array())
    for (const auto& one : value)
      if (one.is_number()) out.push_back(one.get<double>());
  return out;
}

// Raw samples where the file has them, else the value.
Outcome outcome_of(const json& result, const json& parameters, const json& samples) {
  Outcome outcome;
  outcome.names = parameters.is_array() ? combinations(parameters) : std::vector<std::string>{""};
  const std::size_t wanted = outcome.names.size();
  const json list = result.is_array() ? result : json::array({result});
  if (result.is_null()) return {std::vector<std::vector<double>>(wanted), outcome.names, ""};
  if (list.size() != wanted)
    throw std::invalid_argument("it has " + std::to_string(list.size()) + " values for " +
                                std::to_string(wanted) + " combinations of parameters");
  for (std::size_t i = 0; i < wanted; ++i) {
    auto raw =
        samples.is_array() && i < samples.size() ? asv_numbers(samples[i]) : std::vector<double>();
    if (!list[i].is_number()) raw.clear();
    outcome.values.push_back(raw.empty() ? asv_numbers(list[i]) : raw);
  }
  return outcome;
}

// Version 2 names the columns once; a row may end early.
Outcome from_row(const json& row, const json& columns) {
  const auto cell = [&](const char* name) -> json {
    for (std::size_t i = 0; i < columns.size() && i < row.size(); ++i)
      if (columns[i] == name) return row[i];
    return {};
  };
  Outcome outcome = outcome_of(cell("result"), cell("params"), cell("samples"));
  const json version = cell("version");
  if (!version.is_null())
    outcome.version = version.is_string() ? version.get<std::string>() : version.dump();
  return outcome;
}

Outcome from_value(const json& value) {
  if (!value.is_object()) return outcome_of(value, {}, {});
  const auto member = [&](const char* name) {
    return value.contains(name) ? value.at(name) : json();
  };
  return outcome_of(member("result"), member("params"), member("samples"));
}

// asv names a benchmark's kind by how its method begins.
struct Kind {
  const char *begin, *task, *metric, *unit;  // no metric: what it counts is the author's own
};
constexpr Kind kKinds[] = {{"time", "time", "latency", ""},
                           {"peakmem", "peakmem", "peak_cpu_memory", ""},
                           {"mem", "mem", "", "bytes"},
                           {"track", "track", "", ""}};

std::string method_of(const std::string& benchmark) {
  return benchmark.substr(benchmark.rfind('.') + 1);
}

const Kind& kind_of(const std::string& benchmark) {
  for (const Kind& kind : kKinds)
    if (method_of(benchmark).starts_with(kind.begin)) return kind;
  return kKinds[3];
}

// The unit of a benchmark that tracks a number stands in benchmarks.json.
KnownMetric metric_of(const std::string& benchmark, const json& benchmarks) {
  const Kind& kind = kind_of(benchmark);
  if (*kind.metric) return {kind.metric, 1};
  const std::string unit = text_field(object_field(benchmarks, benchmark.c_str()), "unit");
  return {"", 1, method_of(benchmark), *kind.unit ? kind.unit : unit};
}

// Some choose by a parameter what is tracked. It counts where method and unit say nothing.
KnownMetric with_parameters(KnownMetric metric, const std::string& parameters) {
  if (!metric.foreign.empty() && !parameters.empty() &&
      direction_of(metric.foreign, metric.unit) == Direction::unknown)
    metric.foreign += "-" + parameters;
  return metric;
}

// Whether any needs the benchmarks.json, which may be large.
bool has_tracks(const json& results) {
  for (const auto& [benchmark, result] : results.items())
    if (std::string_view(kind_of(benchmark).task) == "track") return true;
  return false;
}

// asv compares results of one version of a benchmark only; it is a digest of the benchmark's source
// or what the author says. A part of the name, so that each version is a series of its own.
std::string version_word(const std::string& version) {
  constexpr std::size_t kShown = 8;
  if (version.empty()) return "";
  const bool short_enough = version.size() <= kShown;
  const bool is_digest = version.find_first_not_of("0123456789abcdef") == std::string::npos;
  return "v" + (short_enough ? version
                             : (is_digest ? version : digest_of(version).str()).substr(0, kShown));
}

// Results of one machine in two environments are no series.
std::string asv_class(const json& root, const std::string& place) {
  std::string machine = text_field(object_field(root, "params"), "machine");
  if (const auto slash = place.rfind('/'); machine.empty() && slash != std::string::npos)
    machine = place.substr(0, slash).substr(place.rfind('/', slash - 1) + 1);
  const std::string environment = text_field(root, "env_name");
  return machine + (environment.empty() ? "" : " " + environment);
}

}  // namespace

Reading read_asv(const ResultFile& file) {
  json root;
  try {
    root = parse_foreign_or_throw(json_of_python(file.text));
    const Time at = nearest_time(std::chrono::milliseconds(field<std::int64_t>(root, "date")));
    const std::string hash = root.at("commit_hash").get<std::string>();
    HistoryNight night;
    night.measured_at = at;
    night.commit = CommitSha::parse(hash);
    if (!night.commit) throw std::invalid_argument("'" + hash + "' is no commit");
    night.origin = file.place;
    const bool rows = root.contains("result_columns");
    Reading reading;
    NightReader values(reading, asv_class(root, file.place), night, file.directions);
    const json benchmarks = has_tracks(root.at("results")) ? parse_foreign(file.beside) : json();
    for (const auto& [benchmark, result] : root.at("results").items()) {
      const KnownMetric metric = metric_of(benchmark, benchmarks);
      Outcome outcome;
      try {
        outcome = rows ? from_row(result, root["result_columns"]) : from_value(result);
      } catch (const std::invalid_argument& error) {
        reading.left_out.push_back(benchmark + ": " + error.what());
        continue;
      }
      if (outcome.version.empty())  // version 1 of the files lists them apart
        outcome.version = text_field(object_field(root, "benchmark_version"), benchmark.c_str());
      for (std::size_t i = 0; i < outcome.names.size(); ++i) {
        const auto& measured = outcome.values[i];
        if (measured.empty()) ++reading.unmeasured["null or NaN"];
        const std::string& name = outcome.names[i];
        const std::string source = benchmark + (name.empty() ? "" : "-" + name);
        values.add(
            {"asv", source, kind_of(benchmark).task, "cpu", "", "", version_word(outcome.version)},
            with_parameters(metric, name), measured, source);
      }
    }
    values.finish();
    return reading;
  } catch (const json::exception& error) {
    throw std::invalid_argument(problem_of(error));
  }
}

}  // namespace nightjar::cli
