// A range: the change is real, but commits in it have no build here, or its sides could only be
// measured on wheels that differ. So nobody is blamed.
#include <algorithm>

#include "service/report/quantity.hpp"
#include "service/report/sections.hpp"
#include "storage/base/markdown.hpp"

namespace nightjar::service {
namespace {

// "these 12 commits", "this commit".
std::string these(const ReportCulprit& range) {
  const std::size_t count = range.commits.size();
  return count == 1 ? "this commit" : "these " + std::to_string(count) + " commits";
}

std::string obstacles(const ReportInput& input, std::size_t limit) {
  std::string text = "\nWhy it is no narrower:\n\n";
  std::size_t shown = 0;
  for (const std::string& reason : input.range_obstacles) {
    if (shown++ == limit) break;
    text += "- " + plain(shortened(reason, 300)) + "\n";
  }
  if (input.range_obstacles.size() > limit)
    text += "- " + std::to_string(input.range_obstacles.size() - limit) + " more reasons\n";
  return text;
}

std::string advice(const ReportInput& input) {
  if (input.range_wheels)
    return "\nTo tell them apart, compare how the two wheels were made. Or make a wheel available "
           "that "
           "serves one of these commits and was made as its neighbour's was, and have the search "
           "taken up again.\n";
  if (!input.range_may_narrow)
    return "\nIt cannot be narrowed by measuring: read the changes, or repair the build of one of "
           "these commits and measure that.\n";
  return "\nTo narrow it, make a wheel of one of these commits available where builds are looked "
         "for. The search then goes on from its runs, and its end is told here.\n";
}

// Where the wheels may have done it.
std::string wheels_verdict(const ReportInput& input) {
  return " within " + these(*input.range) + " or by the wheel, which changes there from " +
         plain(input.range_wheels->first) + " to " + plain(input.range_wheels->second) +
         ". Which of them did it is not known. Nobody is blamed.";
}

}  // namespace

std::string range_verdict(const ReportInput& input) {
  if (input.range_wheels) return wheels_verdict(input);
  const auto& commits = input.range->commits;
  std::string text = " within " + these(*input.range) + ", ";
  if (commits.size() > 1) text += commit_link(input.repository, commits.front().sha) + " to ";
  return text + commit_link(input.repository, commits.back().sha) + ". Which one is not known: " +
         (input.range_may_narrow ? "builds of commits in between are not available here"
                                 : "those in between were tried and have no run") +
         ". Nobody is blamed.";
}

std::string range_section(const ReportInput& input, std::size_t limit) {
  const ReportCulprit& range = *input.range;
  std::vector<std::vector<std::string>> rows;
  for (const ReportCommit& commit : range.commits) {
    if (rows.size() == limit) break;
    rows.push_back({commit_link(input.repository, commit.sha),
                    plain(shortened(commit.subject, 120)), to_rfc3339(commit.date),
                    pull_request_link(input.repository, commit.subject)});
  }
  std::string text = "\n## Range\n\nThe step lies within " + these(range) + ", oldest first:\n\n" +
                     table({"commit", "subject", "date", "pull request"}, rows);
  if (range.commits.size() > limit)
    text += "\n" + std::to_string(range.commits.size() - limit) + " more are left out here.\n";
  text += (input.range_wheels ? "\n- Probability that a commit did it, and not the wheel: "
                              : "\n- Probability that it lies within the range: ") +
          probability(range.probability) + "\n";
  if (!has_no_ratio(input.series.front().metric))
    text += "- The step as the search sees it: " + change(range.ratio) + " (95 % interval " +
            change_interval(range.low, range.high) + ")\n";
  return text + obstacles(input, std::min<std::size_t>(limit, 10)) + advice(input);
}

}  // namespace nightjar::service
