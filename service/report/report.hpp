// What people read: the issue of a regression and the comments that follow it, as pure functions
// from plain facts to Markdown. The engine fills the inputs from storage and queues the result in
// the outbox.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bisect/profile_diff.hpp"
#include "storage/affected_classes.hpp"
#include "storage/calibration.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/job.hpp"
#include "storage/model/lock.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/time.hpp"

namespace nightjar::service {

// One series that shows the cause. Values in the metric's own unit; ratio is after / before with
// its 95 % interval; low == high: no interval was estimated. `machine`: its class, where an issue
// has several.
struct ReportSeries {
  std::string workload;  // "python/soft_actor_critic/eval/cpu/fp32/b1/eager"
  std::string metric;    // "latency"
  double before = 0, after = 0;
  double ratio = 1, low = 1, high = 1;
  std::string machine = {};  // "machine class 2 (AMD EPYC 7763)"
};

struct ReportCommit {
  CommitSha sha;
  std::string subject;  // as written; the pull request's number is read from it
  std::string author;
  Time date{};
};

// Adjacent commits, oldest first, that could not be told apart. In a culprit, all but the last were
// tried and have no run. In a range, some were never tried.
struct ReportCulprit {
  std::vector<ReportCommit> commits;
  double probability = 0;  // that the step lies among these commits
  double ratio = 1, low = 1, high = 1;
};

struct ReportBuild {
  std::string version;               // "2.15.0.dev20260820+cpu"
  std::optional<CommitSha> commit;   // main's commit
  std::optional<CommitSha> nightly;  // what torch.version.git_version says
  std::string wheel;                 // what pip installs: file name or URL
  std::string kept;                  // URL of the service's own copy; empty: not reachable
  std::string lock = {};             // URL of its packages; empty: not locked, or not reachable
};

// A package, interpreter or library that differs between the ends. Empty: not there at that end.
struct ReportDifference {
  std::string name;  // "python", "triton"
  std::string good, bad;
};

// Which of these packages made it worse, as far as the search among them went.
struct ReportPackages {
  struct Named {
    std::string name, before, after;  // the last version that did not, and the first that did
    double ratio = 1, low = 1, high = 1;
  };
  std::vector<Named> named;
  std::string said;                   // one sentence
  std::vector<std::string> left_out;  // environments that could not be measured, and why
};
// A commit that changed a file which pins versions.
struct ReportPin {
  ReportCommit commit;
  std::string path;
};

// A commit that the search asked, in topological order. `ratio`: its level relative to the good
// end's; nullopt: it could not be measured, for the reason in `untestable` ("does not build").
struct ReportTested {
  CommitSha sha;
  std::string subject;
  int runs = 0;
  std::optional<double> ratio;
  std::string untestable;
  UntestableCause cause = UntestableCause::does_not_run;  // of `untestable`
};

// How a run failed; `measured`: it gave another result than builds before.
struct ReportFailure {
  RunStatus status = RunStatus::failed;
  std::string said;
};

// Memory that the bad build keeps more in each iteration, of the slope's metric and with its 95 %
// interval.
struct ReportLeak {
  std::string metric;
  double grown = 0, low = 0, high = 0;
};

// What else the posterior holds possible.
struct ReportAlternative {
  std::string what;                // "no change", "too small to matter"; empty: the commits say it
  std::vector<CommitSha> commits;  // oldest first
  double probability = 0;
};

// The other series of the lead's metric that the same night measured, by its screening alone.
struct ReportExtent {
  struct Other {
    std::string workload;
    MachineId machine;
    double ratio = 1;  // tonight's level to the one before
    SeriesId series = {};
  };
  std::vector<Other> worse;     // by the threshold or more
  std::vector<Other> not_seen;  // looked at, and no worse
  int unclear = 0;              // worse by less than the threshold
};

// Series of the night of a finding that joined: they got worse with it, by their screening alone.
struct ReportBeside {
  std::string metric;   // of the finding that joined
  std::string version;  // of the night's build
  std::vector<ReportExtent::Other> worse;
  int unclear = 0;  // as in ReportExtent
};

// A machine class by name, and whether it shows the finding.
struct ReportClass {
  AffectedClass found;
  std::string name;        // "machine class 2 (AMD EPYC 7763)"
  std::string first_seen;  // date of that night; empty: it is not seen
};

struct ReportInput {
  std::int64_t regression = 0;           // row id, as /api/v1/regressions knows it
  std::string fingerprint;               // fingerprint_of(...)
  std::string repository;                // URL of the repository that was searched
  std::string package = "torch";         // of which the builds are
  std::string details_url;               // this regression on Nightjar's own pages; empty: none
  std::string evidence_url;              // its evidence bundle; empty: not reachable
  std::string found_on;                  // date of the night, "2026-08-20"
  double threshold = .07;                // of the confirmation
  double search_threshold = .07;         // the smallest change that a commit is blamed for
  std::vector<ReportSeries> series;      // the lead first
  ReportExtent extent;                   // where else it was looked for
  std::vector<ReportBeside> beside;      // what joined it before it has an issue
  std::vector<ReportClass> classes;      // that show it, or could have; by id
  std::optional<ReportCulprit> culprit;  // nullopt: a range, or nobody could be named
  std::optional<ReportCulprit> range;    // in place of a culprit: nobody is blamed
  std::string digest_of_week;  // its Monday: this is the first finding of a digest; usually empty
  std::vector<std::string> range_obstacles;  // why its commits have no run, each reason once
  bool range_may_narrow = true;              // false: every commit of it was tried
  // The wheels on both sides of a range, where they may have done it instead of its commits.
  std::optional<std::pair<std::string, std::string>> range_wheels;
  // Several small steps, of which `culprit` is the sum; usually empty.
  std::vector<ReportCulprit> contributors;
  int culprits_of_search = 1;  // more: each has an issue, and the series show the sum of all
  std::string rule;            // why the search ended so, one sentence
  std::optional<ReportFailure> failure;  // the first run that failed; nullopt: it is no failure
  std::optional<ReportLeak> leak;        // nullopt: its memory does not grow with iterations
  ReportBuild good, bad;
  std::string index;       // where pip also finds what the wheels depend on; empty: nowhere
  double run_seconds = 2;  // of measuring in a run
  // Up to which commit the good wheel, and from which on the bad one, takes a commit's Python
  // files.
  std::optional<CommitSha> over_good, over_bad;
  int range_commits = 0;  // commits between the ends, the bad one included
  int runs = 0, sessions = 0, builds_made = 0;
  std::string runner;                          // its name
  std::map<std::string, std::string> machine;  // facts of the machine class
  CalibrationTotals calibration;               // cases of known truth on that machine class
  std::optional<std::vector<ReportDifference>> differences;  // nullopt: not known; empty: none
  std::optional<Attribution>
      attribution;  // whose the change is, where more than the source differs
  std::vector<std::string> wheel_differences;  // where the wheel changed it; empty: none is known
  std::optional<ReportPackages> packages;  // of these differences; nullopt: they were not searched
  std::vector<ReportPin> pins;             // between the ends, the oldest first
  std::optional<bisect::ProfileDiff>
      profiles;  // last good against first bad build; nullopt: not profiled
  std::vector<ReportTested> tested;
  std::vector<ReportAlternative> alternatives;  // the rest of the posterior, likeliest first
};

struct RenderedIssue {
  std::string title, body;
  std::vector<std::string> commands = {};  // that measure it again, block by block
};

// GitHub refuses longer bodies (it counts characters; we count bytes, which are never fewer).
inline constexpr std::size_t issue_body_limit = 65536;
// A message leaves room for the marker that its sender adds.
inline constexpr std::size_t comment_limit = issue_body_limit - 1024;

// The issue. Its body's first line is the verdict; texts from commits can neither mention anybody,
// refer to an issue, nor break a table; a body over `body_limit` bytes loses rows of the tested
// commits farthest from the culprit, and says how many. Affected series that find no room one by
// one are counted by model. Throws std::invalid_argument without series.
RenderedIssue render_issue(const ReportInput& input, std::size_t body_limit = issue_body_limit);

// How a later night differs from what the issue says: worse by the threshold, better by it, or the
// first night at the level before.
enum class NightChange { grew, shrank, back };

// A later night shows it otherwise.
struct NightComment {
  std::string fingerprint;
  std::string version;  // tonight's build
  std::optional<CommitSha> commit;
  std::string date;
  std::vector<ReportSeries> series;  // tonight against the level before the regression
  NightChange change = NightChange::grew;
  int nights_to_close = 3;  // good nights after which the issue is closed
};
// Series that find no room one by one within `limit` bytes are counted by model.
std::string render_night_comment(const NightComment& comment, std::size_t limit = comment_limit);

// Findings that joined an issue, and are told together.
struct JoinedGroup {
  std::string unattributed;  // why no commit could be named; empty: one is known
  int findings = 1;
  std::vector<std::string> versions;  // of the builds that showed them, at least one
  std::string date;                   // of the last one's night
  std::vector<ReportSeries> series;
  std::vector<ReportPin> pins;       // that moved between the ends of unattributed findings
  std::vector<ReportBeside> beside;  // what got worse with them
};
// Series and machine classes that show a cause since its issue was filed or last heard of some.
struct JoinedComment {
  std::vector<JoinedGroup> groups;       // at least one
  std::vector<std::string> new_classes;  // that had not shown it before
  std::string repository;                // where the pins are
};
// The same as render_night_comment, but without a marker.
std::string render_joined_comment(const JoinedComment& comment, std::size_t limit = comment_limit);

// The level is back: said once, and the issue is closed with it.
struct RecoveredComment {
  std::string fingerprint;
  int nights = 3;       // that it has been back for
  std::string version;  // the first build that was good again
  std::optional<CommitSha> commit;
  std::string repository;
  std::vector<ReportCommit> candidates;  // who may have repaired it; one: who did. May be empty.
  std::vector<ReportSeries> series;      // now against the level before the regression
  double probability = 0;                // of the candidates, where a search named them
};
std::string render_recovered_comment(const RecoveredComment& comment);

// Names one cause, for ever: 32 hex digits of the SHA-256 over repository and culprit commits (in
// any order). The repository's URL counts without scheme, ".git" and trailing slash.
std::string fingerprint_of(std::string_view repository, std::span<const CommitSha> culprits);

// Name what no commit could be named for: by the builds that it lies between, or by the Monday of
// its week.
std::string unattributed_fingerprint(std::string_view repository, std::string_view good,
                                     std::string_view bad);
std::string digest_fingerprint(std::string_view repository, std::string_view monday);

// The outbox's keys: unique, and the same after a restart from an older database.
std::string issue_key(std::string_view fingerprint);  // "regression:<fingerprint>"
std::string night_key(std::string_view fingerprint, std::string_view version);
std::string recovered_key(std::string_view fingerprint, std::string_view version);
std::string chat_key(std::string_view fingerprint);
// "verdict:<fingerprint>:<regression>:<times>": how often one of this regression was taken back.
std::string verdict_key(std::string_view fingerprint, RegressionId regression, int times);
std::string taken_back_key(std::string_view verdict_key);  // "taken-back:<the rest>"
// Keys of reports that belong to no regression. `first_night`: when the first night of the database
// began, so that two services with one tracker do not mistake each other's reports for their own.
std::string digest_key(std::string_view repository, Time first_night, Time until);
std::string fix_key(std::string_view repository, Time first_night, std::string_view version);
// "<!-- nightjar:<key> -->": what is hidden in a posted text, so that it is found again.
std::string marker_of(std::string_view key);

// The number in the "(#123)" that a subject ends with; nullopt: none (a revert's subject ends in
// the quoted subject of what it reverts: that number is not its own).
std::optional<std::int64_t> pull_request_of(std::string_view subject);

}  // namespace nightjar::service
