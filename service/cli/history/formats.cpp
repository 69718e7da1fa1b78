#include "service/cli/history/formats.hpp"

#include <algorithm>

#include "service/cli/csv_file.hpp"

namespace nightjar::cli {
namespace {

// The top-level keys of an object, or of the first object of a list or of lines; read without
// building the rest.
std::vector<std::string> keys_of(const std::string& text) {
  std::vector<std::string> keys;
  const auto first = text.find_first_not_of(" \t\r\n");
  const int level = first != std::string::npos && text[first] == '[' ? 2 : 1;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c != '"') continue;
    const std::size_t begin = i + 1;
    for (++i; i < text.size() && text[i] != '"'; ++i)
      if (text[i] == '\\') ++i;
    const auto next = text.find_first_not_of(" \t\r\n", i + 1);
    if (depth == level && next != std::string::npos && text[next] == ':' && i < text.size())
      keys.push_back(text.substr(begin, i - begin));
  }
  return keys;
}

bool has_key(const std::vector<std::string>& keys, const char* key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool ends_with_file(const std::string& place, const std::string& name) {
  return place == name || place.ends_with("/" + name);
}

const Format* json_format(const std::string& text) {
  const auto keys = keys_of(text);
  if (has_key(keys, "commit_hash") && has_key(keys, "results")) return find_format("asv");
  if (has_key(keys, "benchmarks") && has_key(keys, "machine_info")) return find_format("pytest");
  if (has_key(keys, "benchmark") && has_key(keys, "metric")) return find_format("database");
  if (has_key(keys, "metrics") && has_key(keys, "environ")) return find_format("torchbench");
  return nullptr;
}

}  // namespace

const std::vector<Format>& formats() {
  static const std::vector<Format> all{
      {"torchbench", "TorchBench's metrics-*.json", read_torchbench},
      {"pytest", "pytest-benchmark's JSON", read_pytest},
      {"dynamo", "CSV files of benchmarks/dynamo", read_dynamo},
      {"database", "records of PyTorch's benchmark database, schema v3", read_database},
      {"asv", "a results folder of airspeed velocity", read_asv}};
  return all;
}

const Format* find_format(const std::string& name) {
  for (const Format& format : formats())
    if (format.name == name) return &format;
  return nullptr;
}

const Format* format_of(const ResultFile& file) {
  if (file.place.ends_with(".csv")) {
    try {
      const CsvFile first = parse_csv(file.place, file.text.substr(0, file.text.find('\n')));
      return find_format(first.has("name") ? "dynamo" : "");
    } catch (const std::exception&) {
      return nullptr;
    }
  }
  return json_format(file.text);
}

bool is_beside(const ResultFile& file) {
  for (const char* name : {"machine.json", "benchmarks.json", "lookup.csv"})
    if (ends_with_file(file.place, name)) return true;
  return file.place.ends_with("_compilation_metrics.csv") || file.place.ends_with("_stats.csv") ||
         file.place.ends_with("_graph_breaks.csv") ||
         file.place.ends_with("_graph_break_deduped.csv");
}

}  // namespace nightjar::cli
