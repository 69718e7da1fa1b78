#include "service/cli/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <stdexcept>

#include "bisect/detection.hpp"
#include "service/cli/badge.hpp"
#include "service/cli/compare_text.hpp"
#include "service/cli/failure.hpp"
#include "storage/base/terminal.hpp"

namespace nightjar::cli {
namespace {

constexpr const char* word_not_judged = "not judged";

// No more runs are to come here.
std::string verdict_of(bisect::Confirmation::Verdict verdict) {
  using Verdict = bisect::Confirmation::Verdict;
  return std::string(name_of(verdict == Verdict::more ? Verdict::inconclusive : verdict));
}

bool all_are_positive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

// Whether the difference is at least `least`, in the metric's unit.
bisect::DifferenceVerdict judge_amounts(const std::vector<double>& control,
                                        const std::vector<double>& treatment,
                                        const bisect::DetectionPolicy& policy, double least) {
  return policy.direction == Direction::higher_is_better
             ? bisect::judge_difference(treatment, control, least)
             : bisect::judge_difference(control, treatment, least);
}

// Judges by the difference, which a slope and a 0 have in place of a ratio. From a 0 the change
// must be the threshold's share of the larger side, so that any clear change from 0 counts.
void judge_by_difference(ComparedRow& row, const std::vector<double>& control,
                         const std::vector<double>& treatment, const Metric* metric,
                         const bisect::DetectionPolicy& policy, double at_least) {
  const bool is_slope = metric && metric->repeatability == Repeatability::slope;
  const double larger = std::max(std::abs(row.control), std::abs(row.treatment));
  const double of_metric = metric ? metric->least_change : 0;
  const double least =
      std::max(at_least, is_slope ? of_metric : std::max(of_metric, policy.threshold * larger));
  row.difference = bisect::difference(control, treatment, policy.confidence);
  row.verdict = verdict_of(judge_amounts(control, treatment, policy, least).verdict);
  const auto& [value, low, high] = row.difference;
  if (least == 0 && low == 0 && high == 0 && row.has_interval())
    row.verdict = name_of(bisect::Confirmation::Verdict::same);
}

ComparedRow compare_metric(const std::string& name, const std::string& unit,
                           const std::vector<double>& control, const std::vector<double>& treatment,
                           const bisect::DetectionPolicy& given,
                           const std::optional<Amount>& at_least) {
  ComparedRow row;
  row.metric = name;
  row.unit = unit;
  row.control = bisect::hodges_lehmann(control);
  row.treatment = bisect::hodges_lehmann(treatment);
  row.control_runs = control.size();
  row.treatment_runs = treatment.size();
  const Metric* metric = unit_of(name) == unit ? metric_of(name) : nullptr;
  const double least = at_least ? at_least->in(row.unit).value_or(0) : 0;
  bisect::DetectionPolicy policy = given;
  if (metric) policy.repeatability = metric->repeatability;
  if ((metric && metric->repeatability == Repeatability::slope) || !all_are_positive(control) ||
      !all_are_positive(treatment)) {
    judge_by_difference(row, control, treatment, metric, policy, least);
  } else {
    row.verdict =
        verdict_of(bisect::confirm(control, treatment, policy, bisect::RunsToCome::none).verdict);
    row.ratio = bisect::shift(control, treatment, policy.confidence);
    if (least > 0 && row.verdict != "same")
      row.verdict = verdict_of(judge_amounts(control, treatment, policy, least).verdict);
  }
  // What stayed the same did so either way.
  if (policy.direction == Direction::unknown && row.verdict != "same" &&
      row.verdict != "inconclusive")
    row.verdict = word_not_judged;
  return row;
}

bisect::DetectionPolicy policy_of(const MetricsSide& side, const std::string& metric,
                                  const CompareOptions& options) {
  bisect::DetectionPolicy policy;
  policy.threshold = options.threshold;
  for (const auto& [glob, threshold] : options.thresholds)
    if (is_named_by({glob}, metric)) policy.threshold = threshold;
  policy.direction = direction_in(side, metric, options.directions);
  return policy;
}

void add_unknown(std::vector<NotJudged>& without, const std::vector<ComparedRow>& rows) {
  for (const ComparedRow& row : rows)
    if (row.verdict == word_not_judged)
      without.push_back({row.metric,
                         "its name does not say whether more or less is better; "
                         "--higher or --lower does"});
}

// The verdicts of these metrics are by their shares alone.
void tell_without_unit(const std::vector<ComparedRow>& rows, const Amount& at_least) {
  const auto without = std::count_if(rows.begin(), rows.end(), [&](const ComparedRow& row) {
    return !at_least.in(row.unit).has_value();
  });
  if (without > 0)
    say(stderr, "nightjar: --at-least does not apply to %d metrics, which have another unit\n",
        static_cast<int>(without));
}

void tell_of_one_process(const MetricsSide& control, const MetricsSide& treatment) {
  std::set<std::string> all = control.of_one_process;
  all.insert(treatment.of_one_process.begin(), treatment.of_one_process.end());
  if (!all.empty())
    say(stderr,
        "nightjar: the runs of %zu metrics are stretches of one process, which differ less than "
        "processes do; with five files a side, each would be a run\n",
        all.size());
}

// How far both sides are apart: of ratios by their logarithm, of differences as a share of the
// larger side.
double size_of(const ComparedRow& row) {
  if (row.ratio) return std::abs(std::log(row.ratio->ratio));
  const double larger = std::max(std::abs(row.control), std::abs(row.treatment));
  return larger > 0 ? std::abs(row.difference.value) / larger : 0;
}

void arrange(std::vector<ComparedRow>& rows, const CompareOptions& options) {
  if (options.only_changed)
    std::erase_if(rows, [](const ComparedRow& row) { return row.verdict == "same"; });
  if (options.by_size)
    std::stable_sort(rows.begin(), rows.end(), [](const ComparedRow& a, const ComparedRow& b) {
      return size_of(a) > size_of(b);
    });
}

// GitHub shows what is appended to the job's summary as Markdown; elsewhere it is printed.
void write_for_github(const ComparedMetrics& compared, bool are_errors) {
  put_text(stdout, github_annotations(compared, are_errors));
  const std::string markdown = compared_markdown(compared) + "\n";
  const char* const summary = std::getenv("GITHUB_STEP_SUMMARY");
  if (!summary || !*summary) return put_text(stdout, markdown);
  std::ofstream file(summary, std::ios::app);
  file << markdown;
  file.close();
  if (!file)
    throw std::runtime_error("cannot append the summary to " + std::string(summary) +
                             ", which $GITHUB_STEP_SUMMARY names");
}

BadgeCounts counts_of(const ComparedMetrics& compared) {
  BadgeCounts counts{.all = static_cast<int>(compared.rows.size())};
  for (const ComparedRow& row : compared.rows) {
    counts.worse += row.verdict == "worse";
    counts.better += row.verdict == "better";
    counts.same += row.verdict == "same";
  }
  for (const OneSided& one : compared.lost) counts.failed += one.failed;
  return counts;
}

void write_compared(const ComparedMetrics& compared, const CompareOptions& options) {
  if (options.format == "github") return write_for_github(compared, options.fail_on_worse);
  const auto text = options.format == "json"       ? compared_json(compared)
                    : options.format == "markdown" ? compared_markdown(compared)
                    : options.format == "junit"    ? compared_junit(compared)
                                                   : compared_table(compared);
  put_text(stdout, text);
}

}  // namespace

bool ComparedRow::has_interval() const {
  const auto n = static_cast<double>(control_runs), m = static_cast<double>(treatment_runs);
  const double ways = std::exp(std::lgamma(n + m + 1) - std::lgamma(n + 1) - std::lgamma(m + 1));
  return 2 / ways < .1 + 1e-6;
}

bool ComparedMetrics::any_is(const char* verdict) const {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const ComparedRow& row) { return row.verdict == verdict; });
}

bool ComparedMetrics::lost_any() const {
  return std::any_of(lost.begin(), lost.end(), [](const OneSided& one) { return one.failed; });
}

int compare(const CompareOptions& options) {
  require_place_for_badge(options.badge);
  const MetricsSide control = read_side(options.control),
                    treatment = read_side(options.treatment, control.units);
  ComparedMetrics compared;
  for (const auto& [metric, values] : control.values)
    if (const auto other = treatment.values.find(metric); other != treatment.values.end())
      compared.rows.push_back(compare_metric(metric, unit_in(control, metric), values,
                                             other->second, policy_of(control, metric, options),
                                             options.at_least));
  for (const MetricsSide* side : {&control, &treatment})
    for (const std::string& line : side->refused)
      say(stderr, "nightjar: left out: %s\n", line.c_str());
  for (const auto& [workload, what] : other_setups(control, treatment))
    say(stderr, "nightjar: %s: more differs than the builds: %s\n", workload.c_str(), what.c_str());
  if (options.at_least) tell_without_unit(compared.rows, *options.at_least);
  tell_of_one_process(control, treatment);
  compared.lost = only_in(control, treatment);
  compared.added = only_in(treatment, control);
  // Where the treatment says that it failed, that is the answer; else the files have nothing to do
  // with each other.
  const bool any_failed = std::any_of(compared.lost.begin(), compared.lost.end(),
                                      [](const OneSided& one) { return !one.reason.empty(); });
  compared.not_judged = not_judged(control, treatment);
  add_unknown(compared.not_judged, compared.rows);
  if (compared.rows.empty() && !any_failed && compared.not_judged.empty())
    throw BadInput("cannot compare: no metric is in the files of both sides");
  write_badge(options.badge, badge_of(counts_of(compared)));
  arrange(compared.rows, options);
  write_compared(compared, options);
  return (compared.lost_any() || compared.any_is("worse")) && options.fail_on_worse ? 1 : 0;
}

}  // namespace nightjar::cli
