#include "service/cli/repeat.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "bisect/statistics.hpp"
#include "runner/format/suite_result.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/model_results.hpp"
#include "storage/base/terminal.hpp"
#include "storage/base/text_table.hpp"
#include "storage/model/json.hpp"

namespace nightjar::cli {
namespace {

std::vector<double> every_second(const std::vector<double>& values, std::size_t first) {
  std::vector<double> half;
  for (std::size_t i = first; i < values.size(); i += 2) half.push_back(values[i]);
  return half;
}

using Values = std::map<std::string, std::vector<std::vector<double>>>;  // by workload, file

// "no workload of FILE has the metric X; it has: ..."
std::string problem_of_file(const std::filesystem::path& file, const std::string& metric,
                            const std::set<std::string>& metrics) {
  if (metrics.contains(metric)) return "";
  if (metrics.empty()) return "there is no measured workload in " + file.string();
  std::string text = "no workload of " + file.string() + " has the metric " + metric + "; it has: ";
  for (const std::string& name : metrics) text += (name == *metrics.begin() ? "" : ", ") + name;
  return text;
}

Values read_values(const RepeatOptions& options) {
  Values values;
  for (std::size_t i = 0; i < options.files.size(); ++i) try {
      std::set<std::string> metrics;
      const auto items = runner::read_suite_result(read_text(options.files[i])).items;
      for (const auto& item : items)
        for (const auto& [name, metric] : item.metrics) metrics.insert(name);
      if (const auto problem = problem_of_file(options.files[i], options.metric, metrics);
          !problem.empty())
        throw BadInput("cannot tell how " + options.metric + " repeats: " + problem);
      for (const auto& item : items) {
        const auto found = item.metrics.find(options.metric);
        if (found == item.metrics.end()) continue;
        auto& runs = values[item.name.str()];
        runs.resize(options.files.size());
        for (const double value : found->second.values)
          if (value > 0) runs[i].push_back(value);
      }
    } catch (const std::invalid_argument& error) {
      throw BadInput("cannot read " + options.files[i].string() + ": " + error.what() +
                     "; it must be what `nightjar-runner measure --json` wrote");
    }
  return values;
}

std::size_t least_runs(std::size_t files) {
  return files == 1 ? 4 : 2;
}  // a file alone is both sides

bool enough(const std::vector<std::vector<double>>& files) {
  return std::all_of(files.begin(), files.end(),
                     [&](const auto& runs) { return runs.size() >= least_runs(files.size()); });
}

// Which file it is that has too few runs of every workload; with two, perhaps neither alone.
std::string too_few(const Values& values, const RepeatOptions& options) {
  const std::size_t least = least_runs(options.files.size());
  const std::string advice =
      "at least " + std::to_string(least) + " are needed, and --runs 12 tells more";
  for (std::size_t i = 0; i < options.files.size(); ++i)
    if (std::none_of(values.begin(), values.end(),
                     [&](const auto& one) { return one.second[i].size() >= least; }))
      return "no workload of " + options.files[i].string() + " has enough runs of it: " + advice;
  return "no workload has enough runs of it in both files: " + advice;
}

nlohmann::ordered_json repeated_json(const Repeated& row) {
  return {{"workload", row.workload},
          {"runs", row.runs},
          {"cv", row.cv},
          {"ratio", row.ratio.ratio},
          {"low", row.ratio.low},
          {"high", row.ratio.high},
          {"holds_one", row.holds_one()},
          {"noise_class", std::string(name_of(row.kind))}};
}

TextTable repeat_table(const std::vector<Repeated>& rows) {
  TextTable table{{"workload", "runs", "CV", "A/A ratio (95 % interval)", "noise class"}, {}, 1};
  for (const Repeated& row : rows) {
    char cv[32], ratio[64];
    std::snprintf(cv, sizeof cv, "%.1f %%", row.cv * 100);
    std::snprintf(ratio, sizeof ratio, "%.3f (%.3f to %.3f)", row.ratio.ratio, row.ratio.low,
                  row.ratio.high);
    table.rows.push_back(
        {row.workload, std::to_string(row.runs), cv, ratio, std::string(name_of(row.kind))});
  }
  return table;
}

}  // namespace

Repeated repeated(std::string workload, const std::vector<std::vector<double>>& files) {
  Repeated row;
  row.workload = std::move(workload);
  for (const auto& values : files) row.runs += values.size();
  // series_noise wants a dozen runs before it says anything; a table shows few ones too.
  row.cv = bisect::sd_of_logs(files);
  row.kind = bisect::series_noise(files).kind;
  row.ratio = files.size() == 1
                  ? bisect::shift(every_second(files[0], 0), every_second(files[0], 1), .95)
                  : bisect::shift(files[0], files[1], .95);
  return row;
}

int repeat(const RepeatOptions& options) {
  std::vector<Repeated> rows;
  const Values values = read_values(options);
  for (const auto& [workload, files] : values)
    if (enough(files)) rows.push_back(repeated(workload, files));
  if (rows.empty())
    throw BadInput("cannot tell how " + options.metric + " repeats: " + too_few(values, options));
  if (options.format == "json") {
    auto list = nlohmann::ordered_json::array();
    for (const Repeated& row : rows) list.push_back(repeated_json(row));
    const nlohmann::ordered_json out{{"metric", options.metric}, {"workloads", list}};
    put_text(stdout, out.dump(2) + "\n");
  } else {
    std::fputs(table_text(repeat_table(rows), options.format == "markdown").c_str(), stdout);
  }
  int failed = 0;
  for (const Repeated& row : rows) {
    if (row.holds_one()) continue;
    ++failed;
    say(stderr, "nightjar: the A/A interval of %s does not hold 1: %s of %.6g to %.6g\n",
        row.workload.c_str(), options.metric.c_str(), row.ratio.low, row.ratio.high);
  }
  if (failed) say(stderr, "nightjar: of a hundred honest intervals five do not\n");
  return failed ? 1 : 0;
}

}  // namespace nightjar::cli
