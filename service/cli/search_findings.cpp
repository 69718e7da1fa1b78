#include "service/cli/search_findings.hpp"

#include "service/cli/quantity_text.hpp"

namespace nightjar::cli {
namespace {
using bisect::Answer;

std::vector<std::string> cell_of(const SearchResult& result, int first, int last) {
  return {result.commits.begin() + first, result.commits.begin() + last + 1};
}

// The rates on both sides of each step, from all runs up to the next one.
void add_rates(const bisect::SharedPart& part, std::vector<ReportedStep>& named) {
  const auto& steps = part.answer->culprits;
  for (std::size_t i = 0; i < named.size(); ++i) {
    const int from = i == 0 ? 0 : steps[i - 1].last;
    const int to = i + 1 == steps.size() ? part.log.commits : steps[i + 1].first - 1;
    named[i].before = failure_rate_of(part.log.runs, from, steps[i].first - 1);
    named[i].after = failure_rate_of(part.log.runs, steps[i].last, to);
  }
}

std::string rule_of(const Answer& answer, const std::optional<Ends>& ends,
                    const BisectOptions& options) {
  if (answer.culprits.empty() && ends)
    if (const auto opposite = opposite_change(*ends, options); !opposite.empty()) return opposite;
  return answer.rule;
}

// With the levels beside the step, unless add_rates() says them.
ReportedStep reported_step(const BisectOptions& options, const SearchResult& result,
                           const bisect::SharedPart& part, bisect::NamedStep step) {
  const auto change = measured_ratio({step.ratio, step.low, step.high}, seeks_less(options));
  step.ratio = change.ratio;
  step.low = change.low;
  step.high = change.high;
  const auto level = [&](int commit) {
    return seeks_failures(options) ? std::nullopt : level_of(part.log.runs, commit);
  };
  return {
      step, cell_of(result, step.first, step.last), {}, level(step.first - 1), level(step.last)};
}

// In units of a large threshold a small change is as good as none to the search, though the ends
// show it.
void judge_ends(const bisect::SharedPart& part, SearchReport& report) {
  report.rule = rule_of(*part.answer, report.ends, report.options);
  const double threshold = report.options.threshold;
  if (report.outcome != Answer::Outcome::not_reproduced || !report.ends ||
      !differ_below(part.log, seeks_less(report.options), threshold))
    return;
  report.outcome = Answer::Outcome::below_threshold;
  report.rule = "the ends differ by " + change_text(report.ends->change) +
                "; below the threshold of " + percent_text(threshold) + ", nobody is blamed";
}

}  // namespace

SearchReport report_of(const BisectOptions& all_options, const SearchResult& result,
                       std::size_t benchmark,
                       const std::function<CommitFacts(const std::string&)>& facts) {
  const SearchSubject& subject = result.benchmarks.subjects()[benchmark];
  const bisect::SharedPart& part = result.benchmarks.shared().parts()[benchmark];
  const BisectOptions options = options_for(subject, all_options);
  const bool of_failures = seeks_failures(options);
  SearchReport report;
  report.options = options;
  if (!subject.benchmark.empty()) report.subject = subject;
  report.outcome = part.answer->outcome;
  report.rule = part.answer->rule;
  report.ends = of_failures ? failure_ends_of(part.log) : ends_of(part.log, seeks_less(options));
  report.good = result.commits.front();
  report.bad = result.commits.back();
  report.runs = part.answered_after;
  report.builds = result.builds;
  for (const auto& step : part.answer->culprits)
    report.named.push_back(reported_step(options, result, part, step));
  if (of_failures) add_rates(part, report.named);
  for (const auto& step : part.answer->smaller)
    report.smaller.push_back(reported_step(options, result, part, step));
  for (auto* steps : {&report.named, &report.smaller})
    for (ReportedStep& step : *steps)
      for (const std::string& sha : step.commits) step.facts.push_back(facts(sha));
  for (const auto& mass : part.belief.cells)
    report.posterior.push_back({cell_of(result, mass.first, mass.last), mass.probability});
  if (!of_failures) judge_ends(part, report);
  return report;
}

}  // namespace nightjar::cli
