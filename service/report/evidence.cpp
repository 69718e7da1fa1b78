#include "service/report/evidence.hpp"

#include <algorithm>

#include "service/report/quantity.hpp"
#include "service/report/sections.hpp"
#include "storage/base/markdown.hpp"
#include "storage/model/metric.hpp"

namespace nightjar::service {
namespace {

std::string count_of(int count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string end_line(const std::string& name, const ReportInput& input, const ReportBuild& build) {
  std::string text = "- " + name + ": " + code(build.version);
  if (build.commit) text += ", commit " + commit_link(input.repository, *build.commit);
  if (build.nightly && build.nightly != build.commit) {
    text += " (the wheel says " + commit_link(input.repository, *build.nightly) + ")";
  }
  return text + "\n";
}

bool is_culprit(const ReportInput& input, const CommitSha& sha) {
  if (!input.culprit) return false;
  const auto& commits = input.culprit->commits;
  return std::any_of(commits.begin(), commits.end(),
                     [&](const ReportCommit& commit) { return commit.sha == sha; });
}

// "does not import: ImportError".
std::string why_no_level(const ReportTested& tested) {
  std::string cause(name_of(tested.cause));
  std::replace(cause.begin(), cause.end(), '_', ' ');
  return tested.untestable.empty() ? cause
                                   : cause + ": " + plain(shortened(tested.untestable, 120));
}

// The half-open range of `limit` tested commits around the culprit (the end of the list without
// one).
std::pair<std::size_t, std::size_t> shown_range(const ReportInput& input, std::size_t limit) {
  const auto& tested = input.tested;
  if (tested.size() <= limit) return {0, tested.size()};
  const auto it = std::find_if(tested.begin(), tested.end(),
                               [&](const ReportTested& one) { return is_culprit(input, one.sha); });
  const auto centre = static_cast<std::size_t>(it - tested.begin());
  const std::size_t first =
      std::min(centre > limit / 2 ? centre - limit / 2 : 0, tested.size() - limit);
  return {first, first + limit};
}

}  // namespace

// Whether such verdicts were right where the truth was known.
static std::string calibration_line(const CalibrationTotals& known) {
  if (known.same_build + known.planted + known.searches == 0) return {};
  std::string text = "- Calibration of this machine class: ";
  if (known.same_build > 0)
    text += std::to_string(known.false_alarms) + " false alarms in " +
            count_of(known.same_build, "comparison") + " of a build with itself";
  if (known.same_build > 0 && known.planted > 0) text += "; ";
  if (known.planted > 0)
    text += "a planted " + change(1 + known.planted_change) + " was seen in " +
            std::to_string(known.seen) + " of " + count_of(known.planted, "case");
  if (known.searches > 0) {
    if (known.same_build + known.planted > 0) text += "; ";
    text += "of " + count_of(known.searches, "planted culprit") +
            " in recorded runs the search named " + std::to_string(known.exact) +
            " exactly and an innocent commit " + std::to_string(known.innocent) + " times";
  }
  return text + "\n";
}

std::string measured_section(const ReportInput& input, std::size_t limit) {
  std::string text = "\n## What was measured\n\n";
  text += end_line("Last good build", input, input.good);
  text += end_line("First bad build", input, input.bad);
  text += "- " + count_of(input.range_commits, "commit") + " between them; " +
          count_of(input.builds_made, "build") + " made, " + count_of(input.runs, "run") + " in " +
          count_of(input.sessions, "session") + " on runner " + code(input.runner) + "\n";
  text += "- Threshold: " + change(1 + input.threshold) + "\n";
  if (!input.rule.empty()) text += "- Why the search ended: " + plain(input.rule) + "\n";
  text += calibration_line(input.calibration);
  if (input.machine.empty()) return text;
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : input.machine) {
    if (rows.size() == limit) break;
    rows.push_back({plain(name), plain(shortened(value, 120))});
  }
  return text + "\n<details><summary>The machine</summary>\n\n" + table({"fact", "value"}, rows) +
         "\n</details>\n";
}

std::string attributed(const Attribution& whose) {
  if (whose.source.low == whose.source.high)
    return "The packages differ, and neither wheel runs with the other's:";
  return "Each wheel was measured with both sets of packages, in turns. The source changes it by " +
         part_of_change(whose.source) + ", the packages by " + part_of_change(*whose.environment) +
         ":";
}

std::string environment_section(const ReportInput& input, std::size_t limit) {
  std::string text = "\n## Environment differences between the ends\n\n";
  const std::string watched = input.package == "torch" ? "PyTorch" : input.package;
  if (!input.differences) {
    return text +
           "Not known: the packages of one end were not recorded. The cause may be a changed "
           "dependency.\n";
  }
  if (input.differences->empty()) {
    return text + "None: both ends ran with the same packages and the same Python; only " +
           watched + " itself differs.\n";
  }
  std::vector<std::vector<std::string>> rows;
  for (const ReportDifference& one : *input.differences) {
    if (rows.size() == limit) break;
    rows.push_back({plain(one.name), one.good.empty() ? "not installed" : plain(one.good),
                    one.bad.empty() ? "not installed" : plain(one.bad)});
  }
  const bool measured = input.attribution && input.attribution->environment;
  text += (measured ? attributed(*input.attribution)
                    : "The ends differ in more than " + watched +
                          "'s source, so one of these may be the cause:") +
          "\n\n" + table({"package", "last good", "first bad"}, rows);
  if (const std::string list = packages_list(input); !list.empty()) text += "\n" + list;
  if (input.differences->size() > limit) {
    text += "\n" + std::to_string(input.differences->size() - limit) + " more are left out here.\n";
  }
  return text;
}

std::string tested_section(const ReportInput& input, std::size_t limit) {
  if (input.tested.empty()) return {};
  const auto [first, last] = shown_range(input, limit);
  std::vector<std::vector<std::string>> rows;
  // A slope's levels are shown as a ratio all the same: there is nothing else to show of them.
  const std::string& lead = input.series.front().metric;
  const std::string metric = lead == failures_metric ? lead : "latency";
  for (std::size_t i = first; i < last; ++i) {
    const ReportTested& one = input.tested[i];
    std::string level =
        one.ratio ? change_of(metric, 1, *one.ratio, *one.ratio) : why_no_level(one);
    if (one.sha == input.good.commit) level += " (good end)";
    if (is_culprit(input, one.sha)) {
      level = "**" + level + "** (culprit)";
    } else if (one.sha == input.bad.commit) {
      level += " (bad end)";
    }
    rows.push_back({commit_link(input.repository, one.sha), plain(shortened(one.subject, 100)),
                    std::to_string(one.runs), level});
  }
  std::string text =
      "\n## Tested commits\n\nOldest first; the level is relative to the good end, " +
      code(input.series.front().workload) + ", " + metric_title(input.series.front().metric) +
      ".\n\n" + table({"commit", "subject", ">runs", "level"}, rows);
  const std::size_t hidden = input.tested.size() - (last - first);
  if (hidden > 0) {
    text += "\n" + std::to_string(hidden) +
            " more, farther from the culprit, are left out here: " + "an issue holds " +
            std::to_string(issue_body_limit) + " characters.\n";
  }
  return text;
}

std::string alternatives_section(const ReportInput& input, std::size_t limit) {
  std::string text = "\n## The rest of the posterior\n\n";
  if (input.alternatives.empty()) return text + "Nothing above 0.1 %.\n";
  std::size_t shown = 0;
  for (const ReportAlternative& one : input.alternatives) {
    if (shown++ == limit) break;
    text += "- " + probability(one.probability) + ": ";
    if (one.commits.empty()) {
      text += plain(one.what);
    } else {
      text += "a step at " + commit_link(input.repository, one.commits.front());
      if (one.commits.size() > 1) {
        text += " to " + commit_link(input.repository, one.commits.back()) + " (" +
                std::to_string(one.commits.size()) + " adjacent commits)";
      }
    }
    text += "\n";
  }
  return text;
}

std::string source_line(const ReportInput& input) {
  std::string text = "Found by Nightjar in the night of " + plain(input.found_on) +
                     ", regression " + std::to_string(input.regression);
  if (!input.details_url.empty()) text += ": <" + one_line(input.details_url) + ">";
  if (!input.evidence_url.empty())
    text += ". Judge it again from its raw samples: `curl -s " + one_line(input.evidence_url) +
            " | nightjar verify -`";
  return text + ". Later nights are added here; it is closed when the level is back.";
}

}  // namespace nightjar::service
