#include "service/report/digest.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "service/report/quantity.hpp"
#include "service/report/sections.hpp"
#include "storage/base/markdown.hpp"
#include "storage/model/metric.hpp"

namespace nightjar::service {
namespace {

// How many each list may have.
struct Shown {
  std::size_t findings = 100, fixes = 1000, commits = 10, series = 10, differences = 200;
  // Less of the longest; false: nothing is left to take away.
  bool shrink() {
    for (std::size_t* most : {&fixes, &differences, &findings, &series, &commits}) {
      if (*most <= 3) continue;
      *most = *most * 3 / 4;
      return true;
    }
    return false;
  }
};

std::string counted(std::size_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}
std::string counted(std::size_t count, const std::string& one) {
  return counted(count, one, one + "s");
}

std::string regression_link(std::int64_t id, const std::string& pages) {
  const std::string name = "regression " + std::to_string(id);
  return pages.empty() ? name
                       : "[" + name + "](" + pages + "/#/regressions/" + std::to_string(id) + ")";
}

std::string issue_link(const std::string& issue) {
  if (issue.empty()) return "–";
  const auto number = issue.substr(issue.rfind('/') + 1);
  return issue.starts_with("http") ? "[#" + plain(number) + "](" + issue + ")" : code(number);
}

bool is_time(const ReportSeries& series) {
  const Metric* known = find_metric(series.metric);
  return known && known->unit == "s";
}

// By how much, as a share: the least and the most.
std::string sizes(const std::vector<ReportSeries>& series) {
  double least = INFINITY, most = 0;
  for (const ReportSeries& one : series) {
    const double size = std::abs(one.ratio - 1);
    least = std::min(least, size);
    most = std::max(most, size);
  }
  const auto percent = [](double size) { return change(1 + size).substr(1); };
  if (!(most > 0)) return "";
  return ", by " + (percent(least) == percent(most) ? percent(most)
                                                    : percent(least) + " to " + percent(most));
}

std::string finding_table(const DigestInput& input, const Shown& shown) {
  std::vector<std::vector<std::string>> rows;
  for (const DigestFinding& one : input.findings) {
    if (rows.size() == shown.findings) break;
    const auto& lead = one.lead;
    rows.push_back(
        {regression_link(one.regression, input.pages),
         code(lead.workload) +
             (one.more_series ? " and " + std::to_string(one.more_series) + " more" : ""),
         metric_title(lead.metric), change_of(lead.metric, lead.before, lead.after, lead.ratio),
         plain(one.state), one.culprit ? name_of_commit(*one.culprit, input.repository) : "–",
         issue_link(one.issue)});
  }
  std::string text =
      table({"finding", "workload", "metric", ">change", "state", "blamed", "issue"}, rows);
  if (input.findings.size() > rows.size())
    text +=
        "\n" + counted(input.findings.size() - rows.size(), "more finding") + " are not listed.\n";
  return text;
}

// The one commit is known: the search named it, or nothing else is new in the build.
bool is_one_known(const DigestFix& fix) {
  const bool undoubted = fix.found == FixFound::named || fix.found == FixFound::open ||
                         fix.found == FixFound::not_asked;
  return fix.commits.size() == 1 && undoubted;
}

std::string named_by_search(const DigestFix& fix) {
  const std::string who = fix.together              ? "these commits together"
                          : fix.commits.size() == 1 ? "this commit"
                                                    : "these neighbours, of which one did it";
  return "A search measured " + code(fix.searched) + " and named " + who + ", with probability " +
         probability(fix.probability) + ". Whatever else is listed got better in the same build.";
}

// What is known of the commits, above their list.
std::string who_did_it(const DigestFix& fix) {
  const std::string measured = " measured " + code(fix.searched);
  switch (fix.found) {
    case FixFound::named:
      return named_by_search(fix);
    case FixFound::range:
      return "One of these commits did it. A search" + measured +
             " and could not tell them apart, since some have no build here:";
    case FixFound::open:
      return "A search for the commit is under way:";
    case FixFound::not_reproduced:
      return "A search" + measured +
             " on both builds side by side and did not see it again, so no commit is named. New in "
             "the build:";
    case FixFound::inconclusive:
      return "One of these commits did it. A search" + measured + " and could not say which:";
    case FixFound::packages_differ:
      return "No search asked who did it: both builds have different packages, which may have done "
             "it. New in the build:";
    case FixFound::not_asked:
      break;
  }
  if (fix.commits.size() == 1) return "Nothing else is new in the build:";
  return fix.commits.empty() ? "Which commits are new in it is not known."
                             : "One of these commits did it; no search asked which:";
}

// Below its headline.
std::string fix_section(const DigestFix& fix, const std::string& repository,
                        const std::string& pages, const Shown& shown) {
  std::string text = "\n";
  if (!fix.regressions.empty()) {
    text += "It repaired ";
    for (std::size_t i = 0; i < fix.regressions.size(); ++i)
      text += (i > 0 ? ", " : "") + regression_link(fix.regressions[i], pages);
    text += ". ";
  }
  text += "The first build that has it is " + code(fix.version) + ".\n";
  text += "\n" + who_did_it(fix) + "\n";
  if (!fix.commits.empty()) text += "\n";
  for (std::size_t i = 0; i < fix.commits.size() && i < shown.commits; ++i)
    text += "- " + name_of_commit(fix.commits[i], repository) + "\n";
  if (fix.commits.size() > shown.commits)
    text += "- and " + std::to_string(fix.commits.size() - shown.commits) + " more\n";
  return text + "\n" + series_table(fix.series, shown.series);
}

// " made 12 workloads faster, by 5.0 % to 20 %".
std::string what_it_did(const DigestFix& fix) {
  std::set<std::string> workloads;
  for (const ReportSeries& one : fix.series) workloads.insert(one.workload);
  const bool faster = std::all_of(fix.series.begin(), fix.series.end(), is_time);
  const auto many = counted(workloads.size(), "workload");
  const bool one_metric =
      std::all_of(fix.series.begin(), fix.series.end(),
                  [&](const ReportSeries& one) { return one.metric == fix.series.front().metric; });
  const auto what = faster ? " made " + many + " faster"
                    : one_metric
                        ? " improved " + metric_title(fix.series.front().metric) + " of " + many
                        : " made " + many + " better";
  return what + sizes(fix.series);
}

// Names the cause where no single commit is known; `version`: as it is to be written.
std::string one_of_them(const DigestFix& fix, const std::string& version) {
  const bool may_be_none =
      fix.found == FixFound::not_reproduced || fix.found == FixFound::packages_differ;
  return fix.commits.size() < 2 || may_be_none
             ? "With " + version + " something"
             : "One of " + std::to_string(fix.commits.size()) + " commits";
}

// "#4711", or "#4711 and #4712" for what did it together. `name`: of one commit.
template <class Name>
std::string who_of(const DigestFix& fix, const std::string& version, Name name) {
  constexpr std::size_t most = 3;
  if (is_one_known(fix)) return name(fix.commits.front());
  if (!fix.together) return one_of_them(fix, version);
  if (fix.commits.size() > most) return std::to_string(fix.commits.size()) + " commits together";
  std::string all;
  for (std::size_t i = 0; i < fix.commits.size(); ++i)
    all += (i == 0 ? "" : i + 1 == fix.commits.size() ? " and " : ", ") + name(fix.commits[i]);
  return all;
}

// Writes it as plain text, for a title.
std::string fix_title(const DigestFix& fix) {
  const auto name = [](const ReportCommit& commit) {
    const auto number = pull_request_of(commit.subject);
    return number ? "#" + std::to_string(*number) : commit.sha.brief();
  };
  return who_of(fix, fix.version, name) + what_it_did(fix);
}

std::size_t series_that_got_better(const DigestInput& input) {
  std::size_t better = 0;
  for (const DigestFix& fix : input.fixes) better += fix.series.size();
  return better;
}

bool was_measured(const DigestInput& input) {
  return input.sessions > input.void_sessions;
}

// "3 new findings, 12 series that got better".
std::string counts_of(const DigestInput& input) {
  return counted(input.findings.size(), "new finding") + ", " +
         counted(series_that_got_better(input), "series that got better", "series that got better");
}

std::string fix_sections(const DigestInput& input, const Shown& shown) {
  if (input.fixes.empty()) return "\nNothing did.\n";
  std::string text;
  for (std::size_t i = 0; i < input.fixes.size() && i < shown.fixes; ++i)
    text += "\n### " + fix_headline(input.fixes[i], input.repository) + "\n" +
            fix_section(input.fixes[i], input.repository, input.pages, shown);
  if (input.fixes.size() > shown.fixes)
    text += "\n" + counted(input.fixes.size() - shown.fixes, "more fix", "more fixes") +
            " of fewer series are not listed.\n";
  return text;
}

// "- sessions took 412 GPU-minutes, 137 for each finding whose commit is named\n"; "" for no time.
std::string cost_line(const MeasuringCost& cost, const std::string& unit) {
  if (!(cost.minutes > 0)) return "";
  char text[160];
  if (const auto each = cost.per_finding())
    std::snprintf(text, sizeof text,
                  "- sessions took %.0f %s, %.0f for each finding whose commit is named\n",
                  cost.minutes, unit.c_str(), *each);
  else
    std::snprintf(text, sizeof text, "- sessions took %.0f %s, and no commit was named\n",
                  cost.minutes, unit.c_str());
  return text;
}

std::string digest_text(const DigestInput& input, const Shown& shown) {
  std::string text = "# Nightjar from " + plain(input.from) + " to " + plain(input.to) + "\n\n**" +
                     counts_of(input) + "** in " +
                     counted(static_cast<std::size_t>(input.nights), "night") + ".\n";
  if (!was_measured(input))
    text += "\nNothing was measured, so nothing could be found: no session can be used.\n";
  text += "\n## Got worse\n\n";
  text += input.findings.empty() ? "Nothing was found.\n" : finding_table(input, shown);
  text += "\n## Got better\n" + fix_sections(input, shown) + "\n## Not settled\n\n";
  if (input.open.empty()) text += "Nothing is open.\n";
  for (const auto& [state, count] : input.open)
    text += "- " + plain(state) + ": " + std::to_string(count) + "\n";
  text += "\n## Nights\n\n- " + counted(static_cast<std::size_t>(input.nights), "night") + ", " +
          std::to_string(input.nights_without_build) + " of them without a new build\n- " +
          counted(static_cast<std::size_t>(input.sessions), "session") + ", " +
          std::to_string(input.void_sessions) +
          " of them void, since the machine was not itself\n" +
          cost_line(input.with_gpu, "GPU-minutes") +
          cost_line(input.without_gpu, "minutes on machines without a GPU");
  for (const DigestNotShown& one : input.not_shown)
    text +=
        "- " + metric_title(one.metric) + " on " + plain(one.machine) +
        ": smallest change seen with probability .9 here: " + change(1 + one.smallest).substr(1) +
        "\n";
  return text;
}

// For sorting: how far from no change, on logs.
double size_of(const DifferenceRow& row) {
  return row.series.ratio > 0 ? std::abs(std::log(row.series.ratio)) : INFINITY;
}

enum class Side { worse, better, alike };
Side side_of(const DifferenceRow& row, double least) {
  const auto& one = row.series;
  if (std::abs(one.ratio - 1) < least || (one.low <= 1 && one.high >= 1)) return Side::alike;
  return (one.ratio > 1) == row.lower_is_better ? Side::worse : Side::better;
}

// Means of latency by domain, each with its members.
std::string domain_table(const DifferenceInput& input) {
  struct Sum {
    double logs = 0;
    int series = 0, worse = 0, better = 0;
  };
  std::map<std::string, Sum> sums;
  for (const DifferenceRow& row : input.rows) {
    if (row.series.metric != "latency" || !(row.series.ratio > 0)) continue;
    Sum& sum = sums[row.domain];
    sum.logs += std::log(row.series.ratio);
    ++sum.series;
    sum.worse += side_of(row, input.least) == Side::worse;
    sum.better += side_of(row, input.least) == Side::better;
  }
  if (sums.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const auto& [domain, sum] : sums)
    rows.push_back({plain(domain), change(std::exp(sum.logs / sum.series)),
                    std::to_string(sum.series), std::to_string(sum.worse),
                    std::to_string(sum.better)});
  return "\n## Latency by domain\n\n" +
         table({"domain", ">geometric mean", ">over series", ">worse", ">better"}, rows);
}

std::string build_text(const ReportBuild& build, const std::string& repository) {
  return code(build.version) +
         (build.commit ? " (" + commit_link(repository, *build.commit) + ")" : "");
}

std::string difference_text(const DifferenceInput& input, const Shown& shown) {
  std::vector<DifferenceRow> sorted = input.rows;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return size_of(a) > size_of(b); });
  std::vector<ReportSeries> worse, better;
  std::size_t alike = 0;
  for (const DifferenceRow& row : sorted) {
    const Side side = side_of(row, input.least);
    if (side == Side::alike)
      ++alike;
    else
      (side == Side::worse ? worse : better).push_back(row.series);
  }
  const auto list = [&](const char* title, const std::vector<ReportSeries>& series) {
    return series.empty()
               ? std::string()
               : "\n## " + std::string(title) + "\n\n" + series_table(series, shown.differences);
  };
  return "# " + build_text(input.build, input.repository) + " against " +
         build_text(input.reference, input.repository) + "\n\n**" +
         counted(worse.size(), "series is", "series are") + " worse and " +
         std::to_string(better.size()) + " better** by at least " +
         change(1 + input.least).substr(1) + " and beyond noise. " +
         counted(alike, "other series is", "other series are") + " alike.\n" +
         list("Worse", worse) + list("Better", better) + domain_table(input);
}

std::string reference_text(const DigestReference& reference, const Shown& shown) {
  if (reference.version.empty()) return "";
  if (reference.difference) return "\n" + difference_text(*reference.difference, shown);
  return "\n## Against " + code(reference.version) +
         "\n\nThere is nothing to compare: no night has measured this build, or none has measured "
         "a "
         "later one of its variant.\n";
}

}  // namespace

std::string fix_headline(const DigestFix& fix, const std::string& repository) {
  const auto name = [&](const ReportCommit& commit) {
    return pull_request_of(commit.subject) ? pull_request_link(repository, commit.subject)
                                           : commit_link(repository, commit.sha);
  };
  return who_of(fix, code(fix.version), name) + what_it_did(fix);
}

std::string render_digest(const DigestInput& input) {
  return digest_text(input, {});
}

bool is_quiet(const DigestInput& input) {
  return input.findings.empty() && input.fixes.empty() && was_measured(input);
}

std::string render_difference(const DifferenceInput& input) {
  return difference_text(input, {});
}

RenderedIssue render_digest_issue(const DigestInput& digest, const DigestReference& reference,
                                  std::size_t body_limit) {
  Shown shown;
  shown.fixes = std::min(shown.fixes, std::max<std::size_t>(3, digest.fixes.size()));
  const auto body = [&] { return digest_text(digest, shown) + reference_text(reference, shown); };
  RenderedIssue issue;
  issue.title = "Nightjar from " + digest.from + " to " + digest.to + ": " +
                (was_measured(digest) ? counts_of(digest) : "nothing was measured");
  issue.body = body();
  while (issue.body.size() > body_limit && shown.shrink()) issue.body = body();
  return issue;
}

RenderedIssue render_fix_issue(const DigestFix& fix, const std::string& repository) {
  return {shortened(fix_title(fix), 250),
          "**" + fix_headline(fix, repository) + ".** Two nights in a row showed it.\n" +
              fix_section(fix, repository, "", {}) +
              "\nNobody has to do anything: close this issue when you have read it.\n"};
}

}  // namespace nightjar::service
