#include "service/report/report.hpp"

#include <algorithm>
#include <stdexcept>

#include "service/report/evidence.hpp"
#include "service/report/quantity.hpp"
#include "service/report/sections.hpp"
#include "storage/base/markdown.hpp"
#include "storage/model/metric.hpp"

namespace nightjar::service {
namespace {

constexpr std::string_view cannot_tell =
    "all but the last were tried and have no run, so they cannot be told apart";

// The step that this issue is about.
const ReportCulprit* own_step(const ReportInput& input) {
  if (input.culprit) return &*input.culprit;
  return input.range ? &*input.range : nullptr;
}

// Whether the size of the step that the search found counts. Otherwise the lead series' change
// counts: if no step is named, or if the metric has no meaningful ratio.
bool counts_its_step(const ReportInput& input) {
  return own_step(input) && own_step(input)->ratio > 0 &&
         !has_no_ratio(input.series.front().metric);
}

// Where the search named several, the series' change is that of all of them.
bool shares_its_change(const ReportInput& input) {
  return counts_its_step(input) && input.culprits_of_search > 1 && input.contributors.empty();
}

StepSize own_size(const ReportInput& input) {
  const ReportCulprit& step = *own_step(input);
  return size_of_step(input.series.front().metric, {step.ratio, step.low, step.high});
}

std::string own_change(const ReportInput& input) {
  return metric_title(input.series.front().metric) + " " + change(own_size(input).ratio);
}

// The interval of the size that counts, and the levels of both builds.
std::string size_in_brackets(const ReportInput& input) {
  const ReportSeries& lead = input.series.front();
  if (!counts_its_step(input)) return change_in_brackets(lead);
  const StepSize size = own_size(input);
  const double scale = std::max(lead.before, lead.after);
  std::string text = " (" + quantity(lead.metric, lead.before, scale) + " → " +
                     quantity(lead.metric, lead.after, scale) + " side by side";
  if (size.low != size.high)
    text += "; 95 % interval of the step " + change_interval(size.low, size.high);
  return text + ")";
}

std::string failure_word(const ReportFailure& failure) {
  switch (failure.status) {
    case RunStatus::measured:
      return "gives another result";
    case RunStatus::crashed:
      return "crashes";
    case RunStatus::timed_out:
      return "does not end in time";
    case RunStatus::out_of_memory:
      return "runs out of memory";
    case RunStatus::wrong_result:
      return "gives a wrong result";
    case RunStatus::broken_environment:
      // The other way is a native workload that does not compile against the build.
      return failure.said.find("mport") == std::string::npos ? "cannot be built"
                                                             : "cannot be imported";
    case RunStatus::failed:
    case RunStatus::unavailable:
      break;
  }
  return "fails";
}

std::string change_of_cause(const ReportInput& input) {
  const ReportSeries& lead = input.series.front();
  if (input.leak) {
    const std::string text = "leak of " + quantity(input.leak->metric, input.leak->grown);
    return lead.metric == input.leak->metric ? text : text + ", " + brief_change(lead);
  }
  if (counts_its_step(input)) return own_change(input);
  const bool always_fails = lead.metric == failures_metric && lead.after == failed_value;
  return always_fails && input.failure ? failure_word(*input.failure) : brief_change(lead);
}

std::string title_of(const ReportInput& input) {
  if (!input.digest_of_week.empty())
    return "[nightjar] Confirmed slow-downs without a commit, week of " + input.digest_of_week;
  std::string title = "[nightjar] " + brief_workloads(input.series) + ": " + change_of_cause(input);
  if (input.range_wheels && input.range->commits.size() == 1)
    return title + " where the wheel changes, between " + one_line(input.good.version) + " and " +
           one_line(input.bad.version);
  if (input.range) {
    const auto& commits = input.range->commits;
    title += " within " + std::to_string(commits.size()) +
             (commits.size() == 1 ? " commit, " : " commits, ") + commits.front().sha.brief();
    return commits.size() == 1 ? title : title + " to " + commits.back().sha.brief();
  }
  if (is_environment(input)) return title + " by " + one_line(brief_packages(input));
  if (is_wheel(input)) return title + " with the wheel of " + one_line(input.bad.version);
  if (!input.culprit) {
    return title + " between " + one_line(input.good.version) + " and " +
           one_line(input.bad.version);
  }
  const auto& commits = input.culprit->commits;
  title += " since " + commits.front().sha.brief();
  if (!input.contributors.empty()) {
    return title + " and " + std::to_string(input.contributors.size() - 1) + " more together";
  }
  if (commits.size() > 1) {
    return title + " or one of the next " + std::to_string(commits.size() - 1);
  }
  if (const auto number = pull_request_of(commits.front().subject)) {
    title += " (#" + std::to_string(*number) + ")";
  }
  return title;
}

std::string blamed_one(const ReportInput& input, const ReportCommit& commit) {
  std::string text = " since " + name_of_commit(commit, input.repository);
  if (pull_request_of(commit.subject)) {
    text += " (" + pull_request_link(input.repository, commit.subject) + ")";
  }
  return text + ", " + probability(input.culprit->probability) + " certain: revert or repair it.";
}

std::string blamed_set(const ReportInput& input) {
  const auto& commits = input.culprit->commits;
  return " since one of these " + std::to_string(commits.size()) + " adjacent commits, " +
         commit_link(input.repository, commits.front().sha) + " to " +
         commit_link(input.repository, commits.back().sha) + " (" + std::string(cannot_tell) +
         "), " + probability(input.culprit->probability) +
         " certain that it is among them: look at these first, revert or repair the one that did "
         "it.";
}

// What the person on call needs, in one sentence.
std::string verdict(const ReportInput& input) {
  const ReportSeries& lead = input.series.front();
  std::string text =
      "**" + plain(brief_workloads(input.series)) + ": " + change_of_cause(input) + "**";
  if (shares_its_change(input))
    text += ", one of " + std::to_string(input.culprits_of_search) + " culprits behind " +
            brief_change(lead);
  text += size_in_brackets(input);
  if (input.range) return text + range_verdict(input);
  if (!input.culprit) return text + unattributed_verdict(input);
  if (!input.contributors.empty()) return text + contributors_verdict(input);
  const auto& commits = input.culprit->commits;
  return text + (commits.size() == 1 ? blamed_one(input, commits.front()) : blamed_set(input));
}

std::string culprit_section(const ReportInput& input, std::size_t limit) {
  if (input.range) return range_section(input, limit);
  if (!input.culprit) return unattributed_section(input);
  if (!input.contributors.empty()) return contributors_section(input, limit);
  const ReportCulprit& culprit = *input.culprit;
  const std::size_t count = culprit.commits.size();
  std::string text = count == 1 ? "\n## Culprit\n\n" : "\n## Culprit: one of these\n\n";
  std::vector<std::vector<std::string>> rows;
  for (const ReportCommit& commit : culprit.commits) {
    if (rows.size() == limit) break;
    rows.push_back({commit_link(input.repository, commit.sha),
                    plain(shortened(commit.subject, 120)), plain(shortened(commit.author, 60)),
                    to_rfc3339(commit.date), pull_request_link(input.repository, commit.subject)});
  }
  text += table({"commit", "subject", "author", "date", "pull request"}, rows);
  if (count > limit) text += "\n" + std::to_string(count - limit) + " more are left out here.\n";
  text += "\n- Probability: " + probability(culprit.probability) + "\n";
  if (count > 1) {
    text += "- One of these " + std::to_string(count) + " adjacent commits; " +
            std::string(cannot_tell) + ".\n";
  }
  if (!has_no_ratio(input.series.front().metric)) {
    text += "- The step as the search sees it: " + change(culprit.ratio) + " (95 % interval " +
            change_interval(culprit.low, culprit.high) + ")\n";
  }
  return text;
}

// How many rows each table may show.
struct Rows {
  std::size_t tested = 1000, series = 1000, culprit = 100, facts = 100, others = 30, worse = 1000;
  // Fewer rows, the least telling first; false: nothing is left to take away.
  bool shrink() {
    for (std::size_t* rows : {&tested, &others, &facts, &worse, &series, &culprit}) {
      if (*rows <= 5) continue;
      *rows = std::max<std::size_t>(5, *rows * 3 / 4);
      return true;
    }
    return false;
  }
};

std::string failure_line(const std::optional<ReportFailure>& failure) {
  if (!failure) return "";
  const std::string said = failure->status == RunStatus::measured
                               ? failure->said
                               : std::string(name_of(failure->status)) + ": " + failure->said;
  return "\nThe first run that failed said: " + code(shortened(said, 400)) + "\n";
}

std::string digest_line(const ReportInput& input) {
  if (input.digest_of_week.empty()) return {};
  return "Each finding of the week of " + plain(input.digest_of_week) +
         " is confirmed, and no commit could be named for it. This is the first; the others follow "
         "as comments.\n\n";
}

std::string body_of(const ReportInput& input, const Rows& rows) {
  const std::string sides =
      counts_its_step(input)
          ? "Both builds side by side, before the search. The size above is that of the step.\n\n"
          : "";
  return digest_line(input) + verdict(input) + "\n\n## Affected series\n\n" + sides +
         series_table(input.series, rows.series) + failure_line(input.failure) +
         classes_section(input, rows.others) + extent_section(input, {rows.worse, rows.others}) +
         culprit_section(input, rows.culprit) + profile_section(input, rows.facts) +
         measured_section(input, rows.facts) + environment_section(input, rows.facts) +
         wheel_section(input) + reproduction_section(input) + tested_section(input, rows.tested) +
         alternatives_section(input, rows.facts) + "\n---\n" + source_line(input) + "\n\n" +
         marker_of(issue_key(input.fingerprint)) + "\n";
}

}  // namespace

RenderedIssue render_issue(const ReportInput& input, std::size_t body_limit) {
  if (input.series.empty() || (own_step(input) && own_step(input)->commits.empty())) {
    throw std::invalid_argument("cannot render regression " + std::to_string(input.regression) +
                                ": it names no series, or a culprit or range without commits");
  }
  Rows rows;
  rows.tested = std::min(rows.tested, std::max<std::size_t>(5, input.tested.size()));
  rows.series = std::min(rows.series, std::max<std::size_t>(5, input.series.size()));
  std::string body = body_of(input, rows);
  while (body.size() > body_limit && rows.shrink()) body = body_of(input, rows);
  RenderedIssue issue{shortened(title_of(input), 250), std::move(body)};
  for (ReproductionStep& step : reproduction(input))
    if (!step.commands.empty()) issue.commands.push_back(std::move(step.commands));
  return issue;
}

}  // namespace nightjar::service
