// Several small steps: no one of them reaches the threshold, all of them together do.
#include <cstdio>

#include "service/report/quantity.hpp"
#include "service/report/sections.hpp"
#include "storage/base/markdown.hpp"

namespace nightjar::service {
namespace {

std::string links(const std::string& repository, const std::vector<ReportCommit>& commits) {
  std::string text = commit_link(repository, commits.front().sha);
  return commits.size() == 1 ? text : text + " to " + commit_link(repository, commits.back().sha);
}

std::string threshold_text(double threshold) {
  char text[32];
  std::snprintf(text, sizeof text, "%g %%", threshold * 100);
  return text;
}

}  // namespace

std::string contributors_verdict(const ReportInput& input) {
  std::string text = ": no single commit reaches the threshold of " +
                     threshold_text(input.search_threshold) + ", but these " +
                     std::to_string(input.contributors.size()) + " together do: ";
  bool first = true;
  for (const ReportCulprit& one : input.contributors) {
    if (!first) text += ", ";
    text += links(input.repository, one.commits) + " (" + change(one.ratio) + ")";
    first = false;
  }
  return text + ". Each was confirmed like a culprit: see which of them can be made cheaper.";
}

std::string contributors_section(const ReportInput& input, std::size_t limit) {
  std::vector<std::vector<std::string>> rows;
  std::size_t count = 0;
  for (const ReportCulprit& one : input.contributors) {
    for (const ReportCommit& commit : one.commits) {
      if (++count > limit) continue;
      rows.push_back({commit_link(input.repository, commit.sha), change(one.ratio),
                      change_interval(one.low, one.high), probability(one.probability),
                      plain(shortened(commit.subject, 120)), plain(shortened(commit.author, 60)),
                      pull_request_link(input.repository, commit.subject)});
    }
  }
  std::string text =
      "\n## Contributors\n\n" + table({"commit", ">change", "95 % interval", ">probability",
                                       "subject", "author", "pull request"},
                                      rows);
  if (count > limit) text += "\n" + std::to_string(count - limit) + " more are left out here.\n";
  if (input.culprit)
    text += "\n- Together: " + change(input.culprit->ratio) + " (95 % interval " +
            change_interval(input.culprit->low, input.culprit->high) + ")\n";
  return text;
}

}  // namespace nightjar::service
