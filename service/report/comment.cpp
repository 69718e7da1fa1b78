#include <algorithm>

#include "service/report/quantity.hpp"
#include "service/report/report.hpp"
#include "service/report/sections.hpp"
#include "storage/base/markdown.hpp"

namespace nightjar::service {
namespace {

constexpr std::size_t rows_shown = 100;
constexpr std::size_t most_series = 1000, fewest_series = 5;  // that a later night's comment lists

std::string repaired_by(const RecoveredComment& comment) {
  const auto& commits = comment.candidates;
  if (commits.empty()) return " Which commit repaired it is not known.";
  const std::string as_searched =
      comment.probability > 0
          ? ", which a search named with probability " + probability(comment.probability)
          : "";
  const auto name = [&](const ReportCommit& commit) {
    return name_of_commit(commit, comment.repository);
  };
  if (commits.size() == 1) return " Repaired by " + name(commits.front()) + as_searched + ".";
  std::string text = " Repaired by one of these " + std::to_string(commits.size()) + " commits" +
                     as_searched + ":\n";
  for (std::size_t i = 0; i < commits.size() && i < rows_shown; ++i) {
    text += "\n- " + name(commits[i]);
  }
  if (commits.size() > rows_shown) {
    text += "\n- and " + std::to_string(commits.size() - rows_shown) + " more";
  }
  return text;
}

std::string headline(const NightComment& comment) {
  switch (comment.change) {
    case NightChange::grew:
      return "**Worse than said last**";
    case NightChange::shrank:
      return "**Partly recovered**";
    case NightChange::back:
      return "**Back at its level, for the first night**";
  }
  return {};
}

// "`a`", "`a` and `b`", "`a`, `b` and 2 more"
std::string versions_text(const std::vector<std::string>& versions) {
  constexpr std::size_t named = 2;
  if (versions.size() == 2) return code(versions[0]) + " and " + code(versions[1]);
  std::string text = code(versions.front());
  if (versions.size() == 1) return text;
  for (std::size_t i = 1; i < named; ++i) text += ", " + code(versions[i]);
  return text + " and " + std::to_string(versions.size() - named) + " more";
}

std::string new_classes_line(const JoinedComment& comment) {
  if (comment.new_classes.empty()) return {};
  std::string text =
      comment.new_classes.size() == 1 ? "New machine class: " : "New machine classes: ";
  for (const std::string& name : comment.new_classes)
    text += (&name == &comment.new_classes.front() ? "" : ", ") + plain(name);
  return text + ".\n\n";
}

std::string group_headline(const JoinedGroup& group) {
  const std::string versions = versions_text(group.versions);
  if (group.unattributed.empty())
    return "**Also seen in " + plain(brief_workloads(group.series)) + "** with " + versions +
           ": the same cause moves " + std::to_string(group.series.size()) + " more series.";
  const bool one = group.findings == 1;
  return std::string("**Another ") +
         (one ? "finding" : std::to_string(group.findings) + " findings") +
         " that no commit could be named for**, with " + versions + " (night of " +
         plain(group.date) + "):";
}

std::string group_beside(const JoinedGroup& group, std::size_t limit) {
  const bool several_classes = !group.series.front().machine.empty();
  std::string text;
  for (const ReportBeside& one : group.beside)
    text += beside_list(group.beside.size() == 1
                            ? "Worse too in the same night, and not measured side by side"
                            : worse_in_other_night(one),
                        one, several_classes, limit);
  return text.empty() ? text : "\n" + text;
}

// `classes` stands below the headline.
std::string group_text(const JoinedGroup& group, const std::string& classes,
                       const std::string& repository, std::size_t limit) {
  std::string text = group_headline(group) + "\n\n" + classes + series_table(group.series, limit);
  if (!group.unattributed.empty())
    text += "\nReason: " + plain(shortened(group.unattributed, 600)) + "\n";
  if (!group.pins.empty()) text += "\n" + pin_lines(repository, group.pins);
  return text + group_beside(group, limit);
}

std::string joined_text(const JoinedComment& comment, std::size_t limit) {
  std::string text, classes = new_classes_line(comment);
  for (const JoinedGroup& group : comment.groups) {
    if (!text.empty()) text += "\n";
    text += group_text(group, classes, comment.repository, limit);
    classes.clear();
  }
  return text;
}

std::string night_text(const NightComment& comment, std::size_t limit) {
  std::string text = headline(comment) + " with " + code(comment.version) + " (night of " +
                     plain(comment.date) + "), against the level before the regression:\n\n" +
                     series_table(comment.series, limit);
  if (comment.change == NightChange::back && comment.nights_to_close > 1)
    text += "\nThe issue is closed after " + std::to_string(comment.nights_to_close) +
            " such nights.\n";
  return text + "\n" + marker_of(night_key(comment.fingerprint, comment.version)) + "\n";
}

// With as many series as find room.
template <class Text>
std::string fitted(Text text_of, std::size_t limit) {
  std::size_t series = most_series;
  std::string text = text_of(series);
  while (text.size() > limit && series > fewest_series) {
    series = std::max(fewest_series, series * 3 / 4);
    text = text_of(series);
  }
  return text;
}

}  // namespace

std::string render_night_comment(const NightComment& comment, std::size_t limit) {
  return fitted([&](std::size_t series) { return night_text(comment, series); }, limit);
}

std::string render_joined_comment(const JoinedComment& comment, std::size_t limit) {
  return fitted([&](std::size_t series) { return joined_text(comment, series); }, limit);
}

std::string render_recovered_comment(const RecoveredComment& comment) {
  std::string text = "**Recovered**: the level has been back for " +
                     std::to_string(comment.nights) + (comment.nights == 1 ? " night" : " nights") +
                     ", since " + code(comment.version);
  if (comment.commit) text += " (" + commit_link(comment.repository, *comment.commit) + ")";
  text += "." + repaired_by(comment) + "\n";
  if (!comment.series.empty()) {
    text += "\nNow, against the level before the regression:\n\n" +
            series_table(comment.series, rows_shown);
  }
  return text + "\n" + marker_of(recovered_key(comment.fingerprint, comment.version)) + "\n";
}

}  // namespace nightjar::service
