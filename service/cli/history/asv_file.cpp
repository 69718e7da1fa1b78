#include "service/cli/history/asv_file.hpp"

#include <stdexcept>

#include "service/cli/history/fields.hpp"
#include "storage/model/json.hpp"

namespace nightjar::cli {
namespace {
using nlohmann::json;

constexpr AsvKind asv_kinds[] = {{"time", "time", "latency", "s"},
                                 {"peakmem", "peakmem", "peak_cpu_memory", "bytes"},
                                 {"mem", "mem", "", "bytes"},
                                 {"track", "track", "", ""}};

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
AsvOutcome asv_outcome(const json& result, const json& parameters, const json& samples) {
  AsvOutcome outcome;
  outcome.names = parameters.is_array() ? combinations(parameters) : std::vector<std::string>{""};
  const std::size_t wanted = outcome.names.size();
  const json list = result.is_array() ? result : json::array({result});
  if (result.is_null()) {
    outcome.values.resize(wanted);
    return outcome;
  }
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
AsvOutcome asv_row(const json& row, const json& columns) {
  const auto cell = [&](const char* name) -> json {
    for (std::size_t i = 0; i < columns.size() && i < row.size(); ++i)
      if (columns[i] == name) return row[i];
    return {};
  };
  AsvOutcome outcome = asv_outcome(cell("result"), cell("params"), cell("samples"));
  const json version = cell("version");
  if (!version.is_null())
    outcome.version = version.is_string() ? version.get<std::string>() : version.dump();
  return outcome;
}

AsvOutcome asv_value(const json& value) {
  if (!value.is_object()) return asv_outcome(value, {}, {});
  const auto member = [&](const char* name) {
    return value.contains(name) ? value.at(name) : json();
  };
  return asv_outcome(member("result"), member("params"), member("samples"));
}

}  // namespace

const AsvKind& asv_kind(const std::string& benchmark) {
  for (const AsvKind& kind : asv_kinds)
    if (asv_method(benchmark).starts_with(kind.begin)) return kind;
  return asv_kinds[3];
}

std::string asv_method(const std::string& benchmark) {
  return benchmark.substr(benchmark.rfind('.') + 1);
}

std::string asv_name(const AsvOutcome& outcome, std::size_t combination) {
  const std::string& parameters = outcome.names[combination];
  return outcome.benchmark + (parameters.empty() ? "" : "-" + parameters);
}

std::vector<AsvOutcome> asv_outcomes(const json& root, std::vector<std::string>& left_out) {
  const bool rows = root.contains("result_columns");
  std::vector<AsvOutcome> outcomes;
  for (const auto& [benchmark, result] : root.at("results").items()) try {
      AsvOutcome outcome = rows ? asv_row(result, root["result_columns"]) : asv_value(result);
      if (outcome.version.empty())  // version 1 of the files lists them apart
        outcome.version = text_field(object_field(root, "benchmark_version"), benchmark.c_str());
      outcome.benchmark = benchmark;
      outcomes.push_back(std::move(outcome));
    } catch (const std::invalid_argument& error) {
      left_out.push_back(benchmark + ": " + error.what());
    }
  return outcomes;
}

}  // namespace nightjar::cli
