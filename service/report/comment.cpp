#include <algorithm>

#include "service/report/markdown.hpp"
#include "service/report/quantity.hpp"
#include "service/report/report.hpp"
#include "service/report/sections.hpp"

namespace nightjar::service {
namespace {

constexpr std::size_t rows_shown = 100;
constexpr std::size_t most_series = 1000, fewest_series = 5;  // that a later night's comment lists

std::string repaired_by(const RecoveredComment& comment) {
  const auto& commits = comment.candidates;
  if (commits.empty()) return " Which commit repaired it is not known.";
  const auto name = [&](const ReportCommit& commit) {
    return commit_link(comment.repository, commit.sha) + " “" +
           plain(shortened(commit.subject, 100)) + "” by " + plain(commit.author);
  };
  if (commits.size() == 1) return " Repaired by " + name(commits.front()) + ".";
  std::string text = " Repaired by one of these " + std::to_string(commits.size()) + " commits:\n";
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

// What was seen for the first time, and what got worse beside it; at most `limit` series a list.
std::string new_series_text(const NightComment& comment, std::size_t limit) {
  std::string text;
  if (!comment.unattributed.empty()) {
    text = "**Another finding that no commit could be named for**, with " + code(comment.version) +
           " (night of " + plain(comment.date) + "):\n\n" +
           series_table(comment.new_series, limit) +
           "\nReason: " + plain(shortened(comment.unattributed, 600)) + "\n";
    if (!comment.pins.empty()) text += "\n" + pin_lines(comment.repository, comment.pins);
  } else if (!comment.new_series.empty()) {
    text = "**Also seen in " + plain(brief_workloads(comment.new_series)) + "** with " +
           code(comment.version) + ": the same cause moves " +
           std::to_string(comment.new_series.size()) + " more series.\n\n" +
           series_table(comment.new_series, limit);
  }
  if (comment.new_series.empty()) return text;
  const std::string beside =
      beside_list("Worse too in the same night, and not measured side by side", comment.beside,
                  !comment.new_series.front().machine.empty(), limit);
  return beside.empty() ? text : text + "\n" + beside;
}

std::string night_text(const NightComment& comment, std::size_t limit) {
  std::string text = new_series_text(comment, limit);
  if (!comment.series.empty()) {
    if (!text.empty()) text += "\n";
    text += headline(comment) + " with " + code(comment.version) + " (night of " +
            plain(comment.date) + "), against the level before the regression:\n\n" +
            series_table(comment.series, limit);
    if (comment.change == NightChange::back && comment.nights_to_close > 1)
      text += "\nThe issue is closed after " + std::to_string(comment.nights_to_close) +
              " such nights.\n";
  }
  return text + "\n" + marker_of(night_key(comment.fingerprint, comment.version)) + "\n";
}

}  // namespace

std::string render_night_comment(const NightComment& comment, std::size_t limit) {
  std::size_t series = most_series;
  std::string text = night_text(comment, series);
  while (text.size() > limit && series > fewest_series) {
    series = std::max(fewest_series, series * 3 / 4);
    text = night_text(comment, series);
  }
  return text;
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
