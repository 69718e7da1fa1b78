#include "bisect/cli/compare.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bisect/cli/failure.hpp"

namespace nightjar::cli {
namespace {

struct Row {
  std::string metric, verdict;
  double control = 0, treatment = 0;
  bisect::Ratio ratio;
  std::size_t control_runs = 0, treatment_runs = 0;
};

std::string verdict_of(const bisect::Confirmation& confirmation) {
  using Verdict = bisect::Confirmation::Verdict;
  switch (confirmation.verdict) {
    case Verdict::worse: return "worse";
    case Verdict::better: return "better";
    case Verdict::same: return "same";
    default: return "inconclusive";  // more runs a side would tell
  }
}

Row compare_metric(const std::string& metric, const std::vector<double>& control,
                   const std::vector<double>& treatment, double threshold) {
  bisect::DetectionPolicy policy;
  policy.threshold = threshold;
  if (higher_is_better(metric)) policy.direction = Direction::higher_is_better;
  const auto confirmation = bisect::confirm(control, treatment, policy);
  return {metric,
          verdict_of(confirmation),
          bisect::hodges_lehmann(control),
          bisect::hodges_lehmann(treatment),
          bisect::shift(control, treatment, policy.confidence),
          control.size(),
          treatment.size()};
}

nlohmann::json row_json(const Row& row) {
  return {{"metric", row.metric},   {"verdict", row.verdict},       {"control", row.control},
          {"treatment", row.treatment}, {"ratio", row.ratio.ratio}, {"low", row.ratio.low},
          {"high", row.ratio.high},
          {"runs", {{"control", row.control_runs}, {"treatment", row.treatment_runs}}}};
}

void print_rows(const std::vector<Row>& rows, bool markdown) {
  std::size_t width = 6;
  for (const Row& row : rows) width = std::max(width, row.metric.size());
  const char* edge = markdown ? "| " : "";
  const char* gap = markdown ? " | " : "  ";
  const char* close = markdown ? " |" : "";
  std::printf("%s%-*s%s%12s%s%12s%s%-24s%s%s%s\n", edge, int(width), "metric", gap, "control", gap,
              "treatment", gap, "ratio (95 % interval)", gap, "verdict", close);
  if (markdown) std::printf("|---|---:|---:|---|---|\n");
  for (const Row& row : rows) {
    char ratio[64];
    std::snprintf(ratio, sizeof ratio, "%.3f (%.3f to %.3f)", row.ratio.ratio, row.ratio.low,
                  row.ratio.high);
    std::printf("%s%-*s%s%12.6g%s%12.6g%s%-24s%s%s%s\n", edge, int(width), row.metric.c_str(), gap,
                row.control, gap, row.treatment, gap, ratio, gap, row.verdict.c_str(), close);
  }
}

}  // namespace

std::map<std::string, std::vector<double>> read_metrics(
    const std::vector<std::filesystem::path>& files) {
  std::map<std::string, std::vector<double>> values;
  for (const auto& file : files) {
    const std::string attempt = "cannot read the metrics file " + file.string();
    std::ifstream in(file);
    if (!in) throw BadInput(attempt + ": no such file, or not readable");
    const auto root = nlohmann::json::parse(in, nullptr, false);
    if (root.is_discarded()) throw BadInput(attempt + ": it is not JSON");
    if (!root.is_object() || !root.contains("metrics") || !root["metrics"].is_object())
      throw BadInput(attempt + ": it has no object 'metrics'");
    for (const auto& [name, value] : root["metrics"].items()) {
      if (value.is_null()) continue;  // not measured
      if (!value.is_number()) throw BadInput(attempt + ": metric '" + name + "' is no number");
      const double number = value.get<double>();
      if (std::isfinite(number) && number > 0) values[name].push_back(number);
    }
  }
  return values;
}

bool higher_is_better(const std::string& metric) {
  std::string name = metric;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* word : {"throughput", "speedup", "flops", "tps", "qps"})
    if (name.find(word) != std::string::npos) return true;
  return false;
}

int compare(const CompareOptions& options) {
  const auto control = read_metrics(options.control);
  const auto treatment = read_metrics(options.treatment);
  std::vector<Row> rows;
  for (const auto& [metric, values] : control)
    if (const auto other = treatment.find(metric); other != treatment.end())
      rows.push_back(compare_metric(metric, values, other->second, options.threshold));
  if (rows.empty()) throw BadInput("cannot compare: no metric is in the files of both sides");
  if (options.format == "json") {
    auto list = nlohmann::json::array();
    for (const Row& row : rows) list.push_back(row_json(row));
    std::printf("%s\n", nlohmann::json{{"metrics", list}}.dump(2).c_str());
  } else {
    print_rows(rows, options.format == "markdown");
  }
  const bool worse = std::any_of(rows.begin(), rows.end(),
                                 [](const Row& row) { return row.verdict == "worse"; });
  return worse && options.fail_on_worse ? 1 : 0;
}

}  // namespace nightjar::cli
