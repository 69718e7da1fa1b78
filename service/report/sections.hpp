// The parts of which issue and comments are made. Used by report.cpp and comment.cpp.
#pragma once

#include <string>
#include <vector>

#include "service/report/report.hpp"

namespace nightjar::service {

// "soft_actor_critic eval"; the whole name if it is not in Nightjar's form.
std::string brief_workload(const std::string& workload);
// "latency +23 %": what the lead series shows, without its workload.
std::string brief_change(const ReportSeries& series);
// "soft_actor_critic eval and 2 more".
std::string brief_workloads(const std::vector<ReportSeries>& series);
// " (4.103 ms → 5.047 ms, 95 % interval +21 % to +25 %)"
std::string change_in_brackets(const ReportSeries& series);
// "bert (12), dlrm (8)": how many of the workloads each model has.
std::string by_model(const std::vector<std::string>& workloads);
// Workload, metric, before, after, change, interval, and the machine class where there are several;
// at most `limit` rows, and below them the other series by model.
std::string series_table(const std::vector<ReportSeries>& series, std::size_t limit);

// Items of a list: `what`, the series that got worse by screening alone, and how many are unclear.
// A long list is folded up, and names at most `limit`; what stands above it counts all by model.
std::string beside_list(const std::string& what, const ReportBeside& beside, bool several_classes,
                        std::size_t limit);
// Such a `what` where there are several lists: names metric and build.
std::string worse_in_other_night(const ReportBeside& beside);
// How many names its lists may have. `worse`: of series that got worse.
struct ExtentLimits {
  std::size_t worse = 1000, others = 30;
};
// Where else the finding was looked for; empty: nowhere.
std::string extent_section(const ReportInput& input, const ExtentLimits& limits);

// Which machine classes show it, saw nothing or did not look, at most `limit`; empty: there is one.
std::string classes_section(const ReportInput& input, std::size_t limit);

// The commit's short hash, linked where the repository is on the web.
std::string commit_link(const std::string& repository, const CommitSha& sha);
// The same with the commit's subject and author, both cut.
std::string name_of_commit(const ReportCommit& commit, const std::string& repository);
// "[#61056](...)", "`#61056`" without a web page; "–" for a commit without one.
std::string pull_request_link(const std::string& repository, const std::string& subject);

// For several small steps: the rest of the verdict's sentence, and the table of contributors.
std::string contributors_verdict(const ReportInput& input);
std::string contributors_section(const ReportInput& input, std::size_t limit);

// For a range: the rest of the verdict's sentence, and what is in it, why it is no narrower, and
// what would narrow it. Neither names an author.
std::string range_verdict(const ReportInput& input);
std::string range_section(const ReportInput& input, std::size_t limit);

// "sympy 1.13.3 → 1.14.0 and 2 more": the packages that differ between the ends.
std::string brief_packages(const ReportInput& input);
// Which package did it and where its pin moved, as items of a list; empty: neither is known.
std::string packages_list(const ReportInput& input);
// A line for each: the commit, its author and the file.
std::string pin_lines(const std::string& repository, const std::vector<ReportPin>& pins);
bool is_environment(const ReportInput& input);  // the packages did it, and the source did not
bool is_wheel(const ReportInput& input);        // the wheel alone did it

// "+12 % (95 % interval ...)": one part of an attribution.
std::string part_of_change(const Part& part);
// How much the wheel changed, and what differs between the wheels; empty: nothing says that it did.
std::string wheel_section(const ReportInput& input);
// What to try where the wheel did it: a sentence or two.
std::string advice_on_wheels(const ReportInput& input);

// What no commit could be named for: the verdict's end, and a section with the reason and advice.
std::string unattributed_verdict(const ReportInput& input);
std::string unattributed_section(const ReportInput& input);

}  // namespace nightjar::service
