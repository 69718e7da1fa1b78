#include "service/cli/metrics_files.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "bisect/statistics.hpp"
#include "runner/format/suite_result.hpp"
#include "service/cli/bench_files.hpp"
#include "service/cli/csv_file.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/gzip.hpp"
#include "service/cli/history/reading.hpp"
#include "service/cli/known_units.hpp"
#include "service/cli/model_results.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json_io.hpp"

namespace nightjar::cli {
namespace {

void add_value(MetricsSide& side, const std::string& name, double value) {
  if (std::isfinite(value))
    side.values[name].push_back(value);
  else
    ++side.not_numbers[name];
}

void add_value_of(MetricsSide& side, const std::string& workload, const std::string& metric,
                  double value) {
  side.workloads[workload + " " + metric] = workload;
  add_value(side, workload + " " + metric, value);
}

void add_cell_of(MetricsSide& side, const std::string& workload, const std::string& metric,
                 const CsvCell& cell) {
  if (cell.number) return add_value_of(side, workload, metric, *cell.number);
  if (cell.word != "empty") ++side.not_numbers[workload + " " + metric];
}

// An error's text may be a whole traceback, whose last line says most.
std::string one_line(std::string text) {
  constexpr std::size_t most_allowed = 160;
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  text.erase(0, text.rfind('\n') + 1);
  return text.size() > most_allowed ? text.substr(0, most_allowed) + "..." : text;
}

// TorchBench's test_bench writes "not_implemented" or an error's text in place of a number.
void add_torchbench(MetricsSide& side, const nlohmann::json& root, const std::string& attempt) {
  // The names of `optim` are those of what it runs, and its values are seconds.
  const std::string benchmark = text_in(root, "name");
  for (const auto& [name, value] : root["metrics"].items()) {
    side.units[name] = benchmark == "optim" ? "seconds" : benchmark;
    if (value.is_string()) side.reasons[name] = one_line(value.get<std::string>());
    if (value.is_null()) ++side.not_numbers[name];
    if (value.is_null() || value.is_string()) continue;
    if (!value.is_number()) throw BadInput(attempt + ": metric '" + name + "' is no number");
    add_value(side, name, value.get<double>());
  }
}

// The machine and the settings of each item; read_suite_result keeps neither. Texts only, as they
// are written.
void add_setups(MetricsSide& side, const nlohmann::json& items) {
  for (const auto& item : items) {
    auto& setup = side.setups[item.value("workload", "")];
    for (const char* part : {"machine", "settings"}) {
      const auto facts = item.value(part, nlohmann::json::object());
      for (const auto& [name, value] : facts.items())
        if (value.is_string()) setup[name].insert(value.get<std::string>());
    }
    if (const auto version = item.find("version"); version != item.end())
      setup["the workload's version"].insert(version->dump());
  }
}

void add_measured(MetricsSide& side, const std::string& text, const std::string& attempt) {
  try {
    for (const auto& item : runner::read_suite_result(text).items) {
      const std::string workload = item.name.str();
      if (item.status != RunStatus::measured)
        side.reasons[workload] = one_line(runner::contract_reason(item.status, item.reason));
      for (const auto& [name, metric] : item.metrics)
        for (const double value : metric.values) add_value_of(side, workload, name, value);
    }
  } catch (const std::invalid_argument& error) {
    throw BadInput(attempt + ": " + error.what());
  }
}

// The row's workload, or what file and row say of it, in the order of a workload's name.
std::string workload_of(const CsvFile& file, const std::vector<std::string>& row) {
  if (const auto workload = file.text(row, "workload"); !workload.empty()) return workload;
  const Group group = group_of_file(file.path);
  const std::string model = file.text(row, "name");
  if (group.task.empty()) return model + "/" + file.text(row, "dev");
  return group.suite + "/" + model + "/" + group.task + "/" + group.device + "/" + group.precision +
         "/b" + file.text(row, "batch_size") + "/" + group.backend;
}

void add_dynamo(MetricsSide& side, const CsvFile& file) {
  for (const std::string& line : file.refused)
    side.refused.push_back(file.path.string() + ": " + line);
  for (const auto& row : file.rows) {
    const std::string workload = workload_of(file, row);
    if (const CsvOutcome outcome = outcome_of(file, row); !outcome.ran) {
      side.reasons[workload] = outcome.why;
      continue;
    }
    for (const char* column : {"speedup", "abs_latency", "compilation_latency", "compression_ratio",
                               "eager_peak_mem", "dynamo_peak_mem"})
      if (const auto cell = file.cell(row, column)) add_cell_of(side, workload, column, *cell);
  }
}

// Runs of a process that measured again and again: medians of stretches, which depend less on each
// other than single samples do (batch means; Law and Kelton, Simulation Modeling and Analysis).
std::vector<double> runs_of_process(const std::vector<double>& samples, bool is_one_run) {
  const std::size_t stretches = is_one_run ? 1 : std::min<std::size_t>(samples.size(), 30);
  std::vector<double> runs;
  for (std::size_t i = 0; i < stretches; ++i) {
    const std::size_t from = i * samples.size() / stretches;
    const std::size_t to = (i + 1) * samples.size() / stretches;
    runs.push_back(bisect::median(std::span(samples).subspan(from, to - from)));
  }
  return runs;
}

// What one of the value's unit is in the first unit that was seen of its benchmark; nullopt if the
// two do not go together.
std::optional<double> factor_to_unit_of(MetricsSide& side, const BenchValue& value) {
  if (value.unit.empty()) return 1;
  return factor_of_units(value.unit, side.units.try_emplace(value.name, value.unit).first->second);
}

void add_benchmarks(MetricsSide& side, const BenchFile& file, const std::filesystem::path& path,
                    bool are_runs) {
  for (const BenchValue& value : file.values) {
    const bool failed = value.samples.empty();
    const auto factor = failed ? std::optional(1.) : factor_to_unit_of(side, value);
    if (!factor) {
      side.other_units[value.name] = "it is in " + in_quotes(value.unit) + " in " + path.string() +
                                     ", and elsewhere in " + in_quotes(side.units[value.name]);
      continue;
    }
    side.directions[value.name] = value.direction;
    if (failed) {
      side.reasons[value.name] =
          value.failure.empty() ? "its file has no samples" : one_line(value.failure);
      continue;
    }
    if (!value.of_one_process) {
      for (const double sample : value.samples) add_value(side, value.name, *factor * sample);
      continue;
    }
    if (!are_runs && value.samples.size() > 1) side.of_one_process.insert(value.name);
    for (const double run : runs_of_process(value.samples, are_runs))
      add_value(side, value.name, *factor * run);
  }
}

constexpr std::size_t files_that_are_runs = 5;

void add_file_to(MetricsSide& side, const std::filesystem::path& path, std::size_t files) {
  const std::string attempt = "cannot read the metrics file " + path.string();
  const std::string text = read_text(path);
  if (without_gz(path).extension() == ".csv") return add_dynamo(side, parse_csv(path, text));
  if (const auto file = read_bench_file(path, text))
    return add_benchmarks(side, *file, path, files >= files_that_are_runs);
  const auto root = parse_foreign(json_of_python(text));
  if (root.is_discarded()) throw BadInput(attempt + ": it is not JSON");
  if (root.is_object() && root.contains("items")) {
    add_measured(side, text, attempt);
    return add_setups(side, root["items"]);
  }
  if (!root.is_object() || !root.contains("metrics") || !root["metrics"].is_object())
    throw BadInput(attempt + ": it has no object 'metrics'");
  add_torchbench(side, root, attempt);
}

}  // namespace

MetricsSide read_side(const std::vector<std::filesystem::path>& files,
                      const std::map<std::string, std::string>& units) {
  MetricsSide side;
  side.units = units;
  for (const auto& file : files) add_file_to(side, file, files.size());
  return side;
}

std::map<std::string, std::string> other_setups(const MetricsSide& control,
                                                const MetricsSide& treatment) {
  const auto listed = [](const std::set<std::string>& values) {
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
    return text;
  };
  std::map<std::string, std::string> out;
  for (const auto& [workload, setup] : control.setups) {
    const auto other = treatment.setups.find(workload);
    if (other == treatment.setups.end()) continue;
    std::string text;
    for (const auto& [name, values] : setup)
      if (const auto now = other->second.find(name);
          now != other->second.end() && now->second != values)
        text += (text.empty() ? "" : ", ") + name + " (" + listed(values) + " and " +
                listed(now->second) + ")";
    if (!text.empty()) out[workload] = text;
  }
  return out;
}

namespace {

// Why a workload failed on that side. dynamo writes batch 0 for a model that failed.
const std::string* reason_in(const MetricsSide& side, const std::string& workload) {
  auto found = side.reasons.find(workload);
  const auto end = workload.rfind('/');
  const auto begin = workload.rfind("/b", end == 0 || end == std::string::npos ? 0 : end - 1);
  if (found == side.reasons.end() && begin != std::string::npos)
    found = side.reasons.find(workload.substr(0, begin) + "/b0" + workload.substr(end));
  return found == side.reasons.end() ? nullptr : &found->second;
}

}  // namespace

std::vector<OneSided> only_in(const MetricsSide& side, const MetricsSide& other) {
  std::map<std::string, std::vector<std::string>> metrics;  // by workload, or by themselves
  for (const auto& [metric, values] : side.values) {
    if (other.other_units.contains(metric) && !other.reasons.contains(metric))
      continue;  // see not_judged()
    const auto workload = side.workloads.find(metric);
    metrics[workload == side.workloads.end() ? metric : workload->second].push_back(metric);
  }
  std::vector<OneSided> out;
  for (auto& [name, all] : metrics) {
    const std::size_t had = all.size();
    std::erase_if(all, [&](const std::string& metric) { return other.values.contains(metric); });
    const std::string* const reason = reason_in(other, name);
    const bool broke = reason && !side.reasons.contains(name);
    const std::string why = reason ? *reason : "";
    if (broke || all.size() == had)
      out.push_back({name, why, true, all.size() < had});
    else
      for (const std::string& metric : all) out.push_back({metric, why, false, false});
  }
  return out;
}

std::vector<NotJudged> not_judged(const MetricsSide& control, const MetricsSide& treatment) {
  std::map<std::string, std::string> why;
  const auto has_any = [](const MetricsSide& side, const std::string& name) {
    return side.values.contains(name) || side.not_numbers.contains(name);
  };
  const auto look = [&](const MetricsSide& side, const MetricsSide& other, const char* called) {
    for (const auto& [name, count] : side.not_numbers)
      if (has_any(other, name))
        why[name] += (why[name].empty() ? "" : ", ") + std::to_string(count) + " of " +
                     std::to_string(count + (side.values.contains(name)
                                                 ? static_cast<int>(side.values.at(name).size())
                                                 : 0)) +
                     " values of the " + called + (count == 1 ? " is" : " are") +
                     " no finite number";
  };
  look(control, treatment, "control");
  look(treatment, control, "treatment");
  for (const auto& [name, reason] : control.reasons)
    if (const auto other = treatment.reasons.find(name); other != treatment.reasons.end())
      why[name] = "it failed on both sides: " + (other->second.empty() ? reason : other->second);
  for (const MetricsSide* side : {&control, &treatment})
    for (const auto& [name, reason] : side->other_units)
      why[name] += (why[name].empty() ? "" : ", ") + reason;
  std::vector<NotJudged> out;
  for (const auto& [name, reason] : why) out.push_back({name, reason});
  return out;
}

const Metric* metric_of(const std::string& name) {
  return find_metric(name.ends_with("mem") ? "peak_cpu_memory" : name.substr(name.rfind(' ') + 1));
}

std::string unit_of(const std::string& name) {
  const std::string last = name.substr(name.rfind(' ') + 1);
  if (const Metric* metric = find_metric(last)) return std::string(metric->unit);
  static const std::map<std::string, std::string> columns{{"abs_latency", "ms"},
                                                          {"compilation_latency", "s"},
                                                          {"compression_ratio", "times eager"},
                                                          {"eager_peak_mem", "GB"},
                                                          {"dynamo_peak_mem", "GB"}};
  if (const auto column = columns.find(last); column != columns.end()) return column->second;
  if (!name.starts_with("test_")) return "";
  if (name.ends_with("]_latency")) return "ms";
  return name.ends_with("]_cmem") || name.ends_with("]_gmem") ? "GB" : "";
}

std::string unit_in(const MetricsSide& side, const std::string& name) {
  const auto unit = side.units.find(name);
  return side.directions.contains(name) ? unit == side.units.end() ? "" : unit->second
                                        : unit_of(name);
}

Direction direction_in(const MetricsSide& side, const std::string& metric,
                       const ChosenDirections& chosen) {
  if (const auto told = side.directions.find(metric); told != side.directions.end())
    return is_named_by(chosen.higher, metric)  ? Direction::higher_is_better
           : is_named_by(chosen.lower, metric) ? Direction::lower_is_better
                                               : told->second;
  if (const Metric* known = metric_of(metric)) return known->direction;
  // The words of the test and of the model before it say nothing.
  std::string name = metric;
  for (const std::string_view before : {"]_", ", metric=", "-eval_", "-train_"})
    if (const auto at = name.rfind(before); at != std::string::npos)
      name.erase(0, at + before.size());
  if (side.workloads.contains(metric)) name.erase(0, name.rfind(' ') + 1);
  const auto unit = side.units.find(metric);
  return direction_of(name, unit == side.units.end() ? "" : unit->second, chosen);
}

}  // namespace nightjar::cli
