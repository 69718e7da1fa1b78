#include "service/cli/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "bisect/detection.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/metrics_files.hpp"
#include "storage/base/markdown.hpp"
#include "storage/base/terminal.hpp"
#include "storage/base/text_table.hpp"
#include "storage/model/json.hpp"

namespace nightjar::cli {
namespace {

constexpr const char* kNotJudged = "not judged";

struct Row {
  std::string metric, verdict, unit;  // no unit if it is not known
  double control = 0, treatment = 0;
  std::optional<bisect::Ratio> ratio;  // none of a slope and where there is a 0: a difference then
  bisect::Difference difference;
  std::size_t control_runs = 0, treatment_runs = 0;
};

// No more runs are to come here.
std::string verdict_of(bisect::Confirmation::Verdict verdict) {
  using Verdict = bisect::Confirmation::Verdict;
  return std::string(name_of(verdict == Verdict::more ? Verdict::inconclusive : verdict));
}

// Even the whole range of so few runs covers less than 90 % of what an interval should.
bool has_interval(const Row& row) {
  const auto n = static_cast<double>(row.control_runs), m = static_cast<double>(row.treatment_runs);
  const double ways = std::exp(std::lgamma(n + m + 1) - std::lgamma(n + 1) - std::lgamma(m + 1));
  return 2 / ways < .1 + 1e-6;
}

bool all_are_positive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

// Judges by the difference, which a slope and a 0 have in place of a ratio. From a 0 the change
// must be the threshold's share of the larger side, so that any clear change from 0 counts.
void judge_by_difference(Row& row, const std::vector<double>& control,
                         const std::vector<double>& treatment, const Metric* metric,
                         const bisect::DetectionPolicy& policy) {
  const bool is_slope = metric && metric->repeatability == Repeatability::slope;
  const double larger = std::max(std::abs(row.control), std::abs(row.treatment));
  const double of_metric = metric ? metric->least_change : 0;
  const double least = is_slope ? of_metric : std::max(of_metric, policy.threshold * larger);
  row.difference = bisect::difference(control, treatment, policy.confidence);
  const bool swapped = policy.direction == Direction::higher_is_better;
  const auto judged = swapped ? bisect::judge_difference(treatment, control, least)
                              : bisect::judge_difference(control, treatment, least);
  row.verdict = verdict_of(judged.verdict);
  const auto& [value, low, high] = row.difference;
  if (least == 0 && low == 0 && high == 0 && has_interval(row))
    row.verdict = name_of(bisect::Confirmation::Verdict::same);
}

Row compare_metric(const std::string& name, const std::vector<double>& control,
                   const std::vector<double>& treatment, const bisect::DetectionPolicy& given) {
  Row row;
  row.metric = name;
  row.unit = unit_of(name);
  row.control = bisect::hodges_lehmann(control);
  row.treatment = bisect::hodges_lehmann(treatment);
  row.control_runs = control.size();
  row.treatment_runs = treatment.size();
  const Metric* metric = metric_of(name);
  bisect::DetectionPolicy policy = given;
  if (metric) policy.repeatability = metric->repeatability;
  if ((metric && metric->repeatability == Repeatability::slope) || !all_are_positive(control) ||
      !all_are_positive(treatment)) {
    judge_by_difference(row, control, treatment, metric, policy);
  } else {
    row.verdict =
        verdict_of(bisect::confirm(control, treatment, policy, bisect::RunsToCome::none).verdict);
    row.ratio = bisect::shift(control, treatment, policy.confidence);
  }
  // What stayed the same did so either way.
  if (policy.direction == Direction::unknown && row.verdict != "same" &&
      row.verdict != "inconclusive")
    row.verdict = kNotJudged;
  return row;
}

bool any_is(const char* verdict, const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Row& row) { return row.verdict == verdict; });
}

// What `nightjar-runner measure` wrote has all iterations, of which a run's value is made here.
bool any_is_of_runs(const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const Row& row) { return row.metric.ends_with(" latency"); });
}

nlohmann::json row_json(const Row& row) {
  nlohmann::json out = {
      {"metric", row.metric},
      {"verdict", row.verdict},
      {"unit", row.unit.empty() ? nlohmann::json() : nlohmann::json(row.unit)},
      {"control", row.control},
      {"treatment", row.treatment},
      {"runs", {{"control", row.control_runs}, {"treatment", row.treatment_runs}}}};
  if (row.ratio) {
    out.update({{"ratio", row.ratio->ratio}, {"low", row.ratio->low}, {"high", row.ratio->high}});
  } else {
    const auto [value, low, high] = row.difference;
    out["difference"] = {{"value", value}, {"low", low}, {"high", high}};
  }
  return out;
}

// Where a side has fewer runs than a verdict wants.
std::string runs_cell(const Row& row) {
  constexpr std::size_t kUsual = 5;
  if (std::min(row.control_runs, row.treatment_runs) >= kUsual) return "";
  return std::to_string(row.control_runs) + " and " + std::to_string(row.treatment_runs);
}

std::string change_cell(const Row& row) {
  char text[80];
  if (!has_interval(row)) {
    std::snprintf(text, sizeof text, row.ratio ? "%.3f (-)" : "%+.6g (-)",
                  row.ratio ? row.ratio->ratio : row.difference.value);
  } else if (row.ratio) {
    std::snprintf(text, sizeof text, "%.3f (%.3f to %.3f)", row.ratio->ratio, row.ratio->low,
                  row.ratio->high);
  } else {
    std::snprintf(text, sizeof text, "%+.6g (%+.6g to %+.6g)", row.difference.value,
                  row.difference.low, row.difference.high);
  }
  return text;
}

nlohmann::json one_sided_json(const std::vector<OneSided>& list) {
  auto out = nlohmann::json::array();
  for (const OneSided& one : list)
    out.push_back({{"name", one.name},
                   {"reason", one.reason.empty() ? nlohmann::json() : nlohmann::json(one.reason)},
                   {"failed", one.failed}});
  return out;
}

void print_item(const std::string& text, bool markdown) {
  if (markdown)
    std::printf("- %s\n", plain(text).c_str());
  else
    say(stdout, "%s\n", text.c_str());
}

void print_one_sided(const std::vector<OneSided>& list, const char* here, const char* there,
                     bool markdown) {
  for (const OneSided& one : list) {
    std::string text =
        one.has_rows ? std::string("failed in the ") + there : std::string("only in ") + here;
    text += ": " + one.name;
    if (!one.reason.empty()) text += " (" + one.reason + ")";
    print_item(text, markdown);
  }
}

nlohmann::json not_judged_json(const std::vector<NotJudged>& list) {
  auto out = nlohmann::json::array();
  for (const NotJudged& one : list) out.push_back({{"name", one.name}, {"reason", one.reason}});
  return out;
}

void print_not_judged(const std::vector<NotJudged>& list, bool markdown) {
  for (const NotJudged& one : list)
    print_item("not judged: " + one.name + " (" + one.reason + ")", markdown);
}

TextTable rows_table(const std::vector<Row>& rows) {
  const bool all_ratios =
      std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.ratio.has_value(); });
  const char* change =
      all_ratios ? "ratio (95 % interval)" : "ratio, or +difference (95 % interval)";
  TextTable table{{"metric", "unit", "control", "treatment", change, "runs", "verdict"}, {}, 2};
  for (const Row& row : rows) {
    char control[32], treatment[32];
    std::snprintf(control, sizeof control, "%.6g", row.control);
    std::snprintf(treatment, sizeof treatment, "%.6g", row.treatment);
    table.rows.push_back(
        {row.metric, row.unit, control, treatment, change_cell(row), runs_cell(row), row.verdict});
  }
  return table;
}

bisect::DetectionPolicy policy_of(const MetricsSide& side, const std::string& metric,
                                  const CompareOptions& options) {
  bisect::DetectionPolicy policy;
  policy.threshold = options.threshold;
  policy.direction = direction_in(side, metric, options.directions);
  return policy;
}

void add_unknown(std::vector<NotJudged>& without, const std::vector<Row>& rows) {
  for (const Row& row : rows)
    if (row.verdict == kNotJudged)
      without.push_back({row.metric,
                         "its name does not say whether more or less is better; "
                         "--higher or --lower does"});
}

}  // namespace

int compare(const CompareOptions& options) {
  const MetricsSide control = read_side(options.control), treatment = read_side(options.treatment);
  std::vector<Row> rows;
  for (const auto& [metric, values] : control.values)
    if (const auto other = treatment.values.find(metric); other != treatment.values.end())
      rows.push_back(
          compare_metric(metric, values, other->second, policy_of(control, metric, options)));
  for (const MetricsSide* side : {&control, &treatment})
    for (const std::string& line : side->refused)
      say(stderr, "nightjar: left out: %s\n", line.c_str());
  for (const auto& [workload, what] : other_setups(control, treatment))
    say(stderr, "nightjar: %s: more differs than the builds: %s\n", workload.c_str(), what.c_str());
  const auto lost = only_in(control, treatment), added = only_in(treatment, control);
  // Where the treatment says that it failed, that is the answer; else the files have nothing to do
  // with each other.
  const bool any_failed = std::any_of(lost.begin(), lost.end(),
                                      [](const OneSided& one) { return !one.reason.empty(); });
  auto without = not_judged(control, treatment);
  add_unknown(without, rows);
  if (rows.empty() && !any_failed && without.empty())
    throw BadInput("cannot compare: no metric is in the files of both sides");
  if (options.format == "json") {
    auto list = nlohmann::json::array();
    for (const Row& row : rows) list.push_back(row_json(row));
    const nlohmann::json out{{"metrics", list},
                             {"only_in_control", one_sided_json(lost)},
                             {"only_in_treatment", one_sided_json(added)},
                             {"not_judged", not_judged_json(without)}};
    put_text(stdout, out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else {
    const bool markdown = options.format == "markdown";
    if (!rows.empty()) std::fputs(table_text(rows_table(rows), markdown).c_str(), stdout);
    if (markdown && !rows.empty() && lost.size() + added.size() + without.size() > 0) std::puts("");
    print_one_sided(lost, "control", "treatment", markdown);
    print_one_sided(added, "treatment", "control", markdown);
    print_not_judged(without, markdown);
    if (options.format == "table" && any_is_of_runs(rows))
      std::puts("latency: the first decile of a run's undisturbed iterations");
    if (options.format == "table" && any_is("inconclusive", rows))
      std::puts("inconclusive: more runs would tell (at least 5 a side, 3 of a peak memory)");
  }
  const bool lost_any =
      std::any_of(lost.begin(), lost.end(), [](const OneSided& one) { return one.failed; });
  return (lost_any || any_is("worse", rows)) && options.fail_on_worse ? 1 : 0;
}

}  // namespace nightjar::cli
