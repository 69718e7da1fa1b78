#include "bisect/cli/compare.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bisect/cli/failure.hpp"
#include "bisect/cli/metrics_files.hpp"
#include "bisect/cli/text_table.hpp"
#include "bisect/detection.hpp"

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
    default: return "inconclusive";
  }
}

Row compare_metric(const std::string& metric, const std::vector<double>& control,
                   const std::vector<double>& treatment, double threshold) {
  bisect::DetectionPolicy policy;
  policy.threshold = threshold;
  policy.repeatability = repeatability_of(metric);
  if (higher_is_better(metric)) policy.direction = Direction::higher_is_better;
  const auto confirmation = bisect::confirm(control, treatment, policy, bisect::RunsToCome::none);
  return {metric,
          verdict_of(confirmation),
          bisect::hodges_lehmann(control),
          bisect::hodges_lehmann(treatment),
          bisect::shift(control, treatment, policy.confidence),
          control.size(),
          treatment.size()};
}

bool any_is(const char* verdict, const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.verdict == verdict; });
}

nlohmann::json row_json(const Row& row) {
  return {{"metric", row.metric},   {"verdict", row.verdict},       {"control", row.control},
          {"treatment", row.treatment}, {"ratio", row.ratio.ratio}, {"low", row.ratio.low},
          {"high", row.ratio.high},
          {"runs", {{"control", row.control_runs}, {"treatment", row.treatment_runs}}}};
}

TextTable rows_table(const std::vector<Row>& rows) {
  TextTable table{{"metric", "control", "treatment", "ratio (95 % interval)", "verdict"}, {}, 1};
  for (const Row& row : rows) {
    char control[32], treatment[32], ratio[64];
    std::snprintf(control, sizeof control, "%.6g", row.control);
    std::snprintf(treatment, sizeof treatment, "%.6g", row.treatment);
    std::snprintf(ratio, sizeof ratio, "%.3f (%.3f to %.3f)", row.ratio.ratio, row.ratio.low,
                  row.ratio.high);
    table.rows.push_back({row.metric, control, treatment, ratio, row.verdict});
  }
  return table;
}

}  // namespace

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
    std::fputs(table_text(rows_table(rows), options.format == "markdown").c_str(), stdout);
    if (options.format == "table" && any_is("inconclusive", rows))
      std::puts("inconclusive: more runs would tell (at least 5 a side, 3 of a peak memory)");
  }
  return any_is("worse", rows) && options.fail_on_worse ? 1 : 0;
}

}  // namespace nightjar::cli
