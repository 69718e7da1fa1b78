// Results of airspeed velocity (asv), versions 1 and 2 of its files.
#include <chrono>
#include <map>
#include <stdexcept>

#include "service/cli/history/fields.hpp"
#include "service/cli/history/formats.hpp"
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
  if (result.is_null()) return {std::vector<std::vector<double>>(wanted), outcome.names};
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
  return outcome_of(cell("result"), cell("params"), cell("samples"));
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
  const char *begin, *task, *metric;
};
constexpr Kind kKinds[] = {{"time", "time", "latency"},
                           {"peakmem", "peakmem", "peak_cpu_memory"},
                           {"mem", "mem", "imported_cost"},
                           {"track", "track", "imported_cost"}};
const Kind& kind_of(const std::string& benchmark) {
  const std::string method = benchmark.substr(benchmark.rfind('.') + 1);
  for (const Kind& kind : kKinds)
    if (method.starts_with(kind.begin)) return kind;
  return kKinds[3];
}

// Results of one machine in two environments are no series.
std::string asv_class(const json& root) {
  const std::string machine = text_field(object_field(root, "params"), "machine");
  const std::string environment = text_field(root, "env_name");
  const std::string name = machine + (environment.empty() ? "" : " " + environment);
  return name.substr(0, 200);
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
    NightReader values(reading, asv_class(root), night);
    for (const auto& [benchmark, result] : root.at("results").items()) {
      const Kind& kind = kind_of(benchmark);
      Outcome outcome;
      try {
        outcome = rows ? from_row(result, root["result_columns"]) : from_value(result);
      } catch (const std::invalid_argument& error) {
        reading.left_out.push_back(benchmark + ": " + error.what());
        continue;
      }
      for (std::size_t i = 0; i < outcome.names.size(); ++i) {
        const auto& measured = outcome.values[i];
        if (measured.empty()) ++reading.unmeasured;
        const std::string& name = outcome.names[i];
        const std::string source = benchmark + (name.empty() ? "" : "-" + name);
        values.add({"asv", source, kind.task, "cpu", "", "", ""}, {kind.metric, 1}, measured,
                   source);
      }
    }
    values.finish();
    return reading;
  } catch (const json::exception& error) {
    throw std::invalid_argument(problem_of(error));
  }
}

}  // namespace nightjar::cli
