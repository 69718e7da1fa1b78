// A search's report for a terminal.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "service/cli/quantity_text.hpp"
#include "service/cli/search_report.hpp"
#include "service/cli/shell.hpp"

namespace nightjar::cli {
namespace {
using bisect::SearchOutcome;

bisect::Ratio change_of(const ReportedStep& step) {
  return {step.named.ratio, step.named.low, step.named.high};
}

// With its unit, if that is known: "1.18 (1.16 to 1.19) ns".
std::string level_text(const LevelEstimate& level, const SearchReport& report) {
  const bool has_unit = report.subject && !report.subject->unit.empty();
  return interval_text(level.location, level.low, level.high) +
         (has_unit ? " " + report.subject->unit : "");
}

// "20.0 % of 35 runs fail (10.0 to 35.9 %)"
std::string rate_text(const LevelEstimate& rate) {
  char text[120];
  std::snprintf(text, sizeof text, "%.1f %% of %d runs fail (%.1f to %.1f %%)", 100 * rate.location,
                rate.runs, 100 * rate.low, 100 * rate.high);
  return text;
}

std::string certainty_text(double probability) {
  return probability > .999 ? "over 99.9 %" : percent_text(probability);
}

std::string show_command(const ReportedStep& step, const SearchReport& report) {
  if (!report.options.package.empty())
    return "uv pip install " + report.options.package + "==" + step.commits.front();
  const std::string git = "git -C " + quoted_for_shell(report.options.repository.string());
  if (step.commits.size() == 1) return git + " show " + step.commits[0].substr(0, 12);
  return git + " log -p " + step.commits.front().substr(0, 12) + "^.." +
         short_name(step.commits.back());
}

std::string step_text(const ReportedStep& step, const SearchReport& report) {
  std::string text;
  for (std::size_t i = 0; i < step.commits.size(); ++i) {
    const CommitFacts& facts = step.facts[i];
    text += (facts.author.empty() ? "" : step.commits[i] + " ") + facts.subject + "\n";
    if (!facts.author.empty()) text += "  " + facts.author + ", " + facts.date + "\n";
  }
  const bool of_failures = seeks_failures(report.options);
  const auto shown = [&](const LevelEstimate& level) {
    return of_failures ? rate_text(level) : level_text(level, report);
  };
  if (step.before && step.after)
    text += "  before: " + shown(*step.before) + "\n  after:  " + shown(*step.after) + "\n";
  text += of_failures ? "  it broke the test with probability "
                      : "  change: " + change_text(change_of(step)) + ", real with probability ";
  return text + certainty_text(step.named.probability) +
         "\n  to see it: " + show_command(step, report) + "\n";
}

std::string smaller_text(const ReportedStep& step) {
  const CommitFacts& last = step.facts.back();
  return change_text(change_of(step)) + " at " +
         (last.author.empty() ? "" : short_name(step.commits.back()) + " ") + last.subject;
}

const ReportedStep& largest_of(const std::vector<ReportedStep>& steps) {
  return *std::max_element(steps.begin(), steps.end(), [](const auto& a, const auto& b) {
    return std::fabs(std::log(a.named.ratio)) < std::fabs(std::log(b.named.ratio));
  });
}

std::string end_text(const char* name, const std::string& commit, const LevelEstimate& level,
                     const SearchReport& report) {
  return std::string("  ") + name + " " + short_name(commit) + ": " + level_text(level, report) +
         ", " + std::to_string(level.runs) + " runs\n";
}

// What lets a reader believe that nobody is to blame.
std::string ends_text(const SearchReport& report) {
  if (!report.ends) return "";
  const Ends& ends = *report.ends;
  if (seeks_failures(report.options))
    return "  good end " + short_name(report.good) + ": " + rate_text(ends.good) + "\n  bad end  " +
           short_name(report.bad) + ": " + rate_text(ends.bad) + "\n  a test that fails in " +
           percent_text(smallest_rate_seen(ends.bad.runs)) +
           " of runs would have failed here with probability .9\n";
  const double smallest = ends.smallest_seen;
  const std::string sight =
      smallest == 1
          ? "runs do not scatter, so any change would have been seen"
          : "a change of " + signed_percent(smallest) + " would have been seen with probability .9";
  return end_text("good end", report.good, ends.good, report) +
         end_text("bad end ", report.bad, ends.bad, report) +
         "  change: " + change_text(ends.change) + "; " + sight + "\n";
}

std::string headline(const SearchReport& report) {
  const std::string threshold = percent_text(report.options.threshold);
  switch (report.outcome) {
    case SearchOutcome::culprit:
      return "";
    case SearchOutcome::several_small:
      return "nobody is blamed: no single commit changed it by " + threshold +
             ", these did together\n";
    case SearchOutcome::below_threshold:
      if (report.smaller.empty())
        return "nobody is blamed: what changed is below " + threshold + "\n";
      return "nobody is blamed: the largest step is " + smaller_text(largest_of(report.smaller)) +
             "; below " + threshold + "\n";
    case SearchOutcome::not_reproduced:
      return "not reproduced: nobody is blamed\n";
    case SearchOutcome::wheel:  // a repository's commits have no wheels
    case SearchOutcome::inconclusive:
      break;
  }
  return "inconclusive: nobody is blamed\n";
}

// What to type next, where something may help.
std::string advice(const SearchReport& report) {
  if (report.outcome == SearchOutcome::below_threshold && !report.smaller.empty())
    return "to have it named: --threshold " +
           threshold_under(change_of(largest_of(report.smaller))) + "\n";
  const bool into_merge =
      report.outcome == SearchOutcome::culprit && !report.options.into_merges &&
      std::any_of(report.named.begin(), report.named.end(), [](const ReportedStep& step) {
        return step.facts.size() == 1 && step.facts.front().is_merge;
      });
  if (into_merge)
    return "to go on in what the merge brought: the same command with --into-merges\n";
  if (report.outcome == SearchOutcome::inconclusive &&
      static_cast<int>(report.runs) >= report.options.max_runs)
    return "to go on: the same command with --max-runs " +
           std::to_string(2 * report.options.max_runs) +
           (!report.options.state.empty() ? ""
            : report.kept.empty()         ? ", from the beginning"
                                          : " --state " + quoted_for_shell(report.kept.string())) +
           "\n";
  return "";
}

std::string other_steps(const SearchReport& report) {
  const bool said = report.outcome == SearchOutcome::below_threshold;
  std::string text;
  for (const ReportedStep& step : report.smaller)
    if (!said || &step != &largest_of(report.smaller))
      text += "also, below " + percent_text(report.options.threshold) + ": " + smaller_text(step) +
              "\n";
  return text;
}

// The rule ends with the number of runs, which the line begins with.
std::string without_runs(std::string rule, std::size_t runs) {
  const std::string said = ", after " + std::to_string(runs) + " runs";
  const auto found = rule.find(said);
  return found == std::string::npos ? rule : rule.erase(found, said.size());
}

// Lines of at most 100 columns, further ones indented.
std::string wrapped(const std::string& text) {
  constexpr std::size_t terminal_columns = 100;
  std::string out, line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > terminal_columns) {
      out += line + "\n";
      line = "  " + word;
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return out + line + "\n";
}

// What its branches came to, and whether the merge itself is to blame.
std::string merge_text(const MergeFinding& finding) {
  const std::string merge = "the merge " + short_name(finding.merge);
  std::string text;
  for (const SearchReport& branch : finding.branches)
    text += "inside " + merge + ", from " + short_name(branch.good) + " to " +
            short_name(branch.bad) + ":\n" + report_text(branch);
  if (finding.blamed == MergeFinding::Blamed::branch) return text;
  const bool itself = finding.blamed == MergeFinding::Blamed::merge;
  return text + wrapped(merge + (itself ? " itself is to blame: " : " is not to blame: ") +
                        finding.reason);
}

}  // namespace

std::string report_text(const SearchReport& report) {
  std::string text = headline(report);
  for (const ReportedStep& step : report.named) text += step_text(step, report);
  text += other_steps(report);
  if (report.outcome != SearchOutcome::culprit) text += ends_text(report);
  std::string last = std::to_string(report.runs) + " runs";
  if (!report.options.build.empty()) last += ", " + std::to_string(report.builds) + " builds";
  text += wrapped(last + ": " + without_runs(report.rule, report.runs)) + advice(report);
  for (const MergeFinding& merge : report.inside_merges) text += merge_text(merge);
  return text;
}

}  // namespace nightjar::cli
