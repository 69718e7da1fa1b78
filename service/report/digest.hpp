// What a week came to, and how a build differs from a reference, as Markdown. Pure functions from
// plain facts, which the REST interface collects.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "service/report/measuring_cost.hpp"
#include "service/report/report.hpp"

namespace nightjar::service {

struct DigestFinding {
  std::int64_t regression = 0;
  ReportSeries lead;
  std::size_t more_series = 0;
  std::string state;                    // "reported"
  std::optional<ReportCommit> culprit;  // the first of adjacent ones; nullopt: nobody is blamed
  std::string issue;                    // its URL or file; empty: none
};

// What a search for the commit of a fix said. packages_differ: nothing was searched, since the
// packages may have done it.
enum class FixFound {
  not_asked,
  packages_differ,
  not_reproduced,
  inconclusive,
  open,
  range,
  named
};

// What made series better: a repair of regressions, or an improvement.
struct DigestFix {
  // That may have done it, or that the search named, all of them together where `together` is true;
  // empty: not known. One that no search doubts is who did it.
  std::vector<ReportCommit> commits;
  std::string version;                    // the first build that has it
  std::vector<ReportSeries> series;       // before: the worse value
  std::vector<std::int64_t> regressions;  // that it repaired; usually one or none
  FixFound found = FixFound::not_asked;
  bool together = false;
  double probability = 0;  // of what the search named
  std::string searched;    // the workload that it measured
};

// A metric on a machine class that cannot show the threshold.
struct DigestNotShown {
  std::string machine, metric;
  double smallest = 0;  // change that is seen with probability .9, as a share
};

struct DigestInput {
  std::string repository;  // URL
  std::string pages;       // URL of Nightjar's own pages; empty: not reachable
  std::string from, to;    // dates
  int nights = 0, nights_without_build = 0, sessions = 0, void_sessions = 0;
  MeasuringCost with_gpu, without_gpu;
  std::vector<DigestFinding> findings;  // opened since then
  std::vector<DigestFix> fixes;         // the one that helped most series first
  std::map<std::string, int> open;      // by state: all that is not settled
  std::vector<DigestNotShown> not_shown{};
};

// "[#4711](...) made 12 workloads faster, by 5.0 % to 20 %".
std::string fix_headline(const DigestFix& fix, const std::string& repository);
std::string render_digest(const DigestInput& input);
// Nothing got worse or better, and that is known: something was measured.
bool is_quiet(const DigestInput& input);

// One series in a build and in its reference.
struct DifferenceRow {
  ReportSeries series;
  std::string domain;  // "vision"
  bool lower_is_better = true;
};
struct DifferenceInput {
  std::string repository;
  ReportBuild reference, build;
  double least = .03;  // a smaller change is not listed
  std::vector<DifferenceRow> rows;
};
// What differs beyond noise comes first, by size; the rest is counted. A mean says over how many
// series it is, and how many of them are worse.
std::string render_difference(const DifferenceInput& input);

// The build that the digests of a schedule compare with.
struct DigestReference {
  std::string version;                        // empty: none is configured
  std::optional<DifferenceInput> difference;  // nullopt: it or what came later was not measured
};
// A digest as an issue, with the difference below it. What is over `body_limit` bytes loses rows
// of its tables, the smallest changes first, and says how many.
RenderedIssue render_digest_issue(const DigestInput& digest, const DigestReference& reference,
                                  std::size_t body_limit = comment_limit);
// The issue of one fix.
RenderedIssue render_fix_issue(const DigestFix& fix, const std::string& repository);

}  // namespace nightjar::service
