// One cause, however many series show it; every change of its state carries its evidence.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/model/enum.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"
#include "storage/model/lifecycle.hpp"
#include "storage/model/search_result.hpp"
#include "storage/model/time.hpp"

namespace nightjar {

// search: a further culprit of another regression's search. history: by the change points of an
// imported series.
NIGHTJAR_ENUM(FoundBy, screening, creep, search, history);

// What one series shows: location before and after, and their ratio with its 95 % interval.
struct AffectedSeries {
  SeriesId series;
  double before = 0, after = 0;
  double ratio = 1, low = 1, high = 1;
};

// Adjacent commits, oldest first, that could not be told apart. In a culprit, all but the last were
// tried and do not build. In a range, some were never tried.
struct Culprit {
  std::vector<CommitSha> commits;
  double probability = 0;
  double ratio = 1, low = 1, high = 1;
};

struct Regression {
  RegressionId id;
  RegressionState state = RegressionState::suspected;
  FoundBy found_by = FoundBy::screening;
  NightId night;
  MachineId machine;
  BuildId good, bad;                   // last good and first bad build
  int part = 0;                        // further culprits of the same search are parts 1, 2, ...
  std::vector<AffectedSeries> series;  // the lead first
  std::optional<Culprit> culprit;
  std::optional<Culprit> range;  // in place of a culprit
  std::optional<RegressionId> merged_into;
  int unfinished = 0;       // confirmations that were cut short
  std::string fingerprint;  // hidden in the issue; set before it is reported
  std::optional<std::int64_t> issue_number;
  std::string issue_url;  // empty until filed; a file path in a dry run
  Time opened_at{};
  Time updated_at{};  // of its last change of state, as it is stored; not written from here
};

// What was decided, on what, and by which rule: a JSON object for readers and `nightjar verify`,
// which the service itself never reads, and the sentence in it that says why.
struct Evidence {
  std::string text;
  std::string rule = {};
};
struct RegressionChange {
  RegressionState state = RegressionState::suspected;
  Time at{};
  Evidence evidence;
};

// range: it goes on if a commit that had no build gets one.
NIGHTJAR_ENUM(BisectionState, open, culprit, not_reproduced, inconclusive, range);

struct Bisection : SearchTally {
  BisectionId id;
  // What it explains: one of the two.
  std::optional<RegressionId> regression;
  std::optional<FixId> fix;
  SeriesId series;  // the lead: what is measured decides
  BisectionState state = BisectionState::open;
  std::vector<CommitSha> commits;  // [0] is the good end's commit, the last one the bad end's
  BuildId good, bad;
  std::optional<SearchOutcome> outcome;  // nullopt: it is open, or was given up
};

// One job of a bisection: `session` numbers the sessions of the search from 0; jobs that continued
// a session share its number.
struct BisectionJob {
  JobId job;
  int session = 0;
};

// Why a commit of a search has no run. does_not_compile, does_not_import and does_not_run (the
// workload fails in every run) are what came of trying it. no_build_here: nobody has tried, since
// no place has a build of it. infrastructure: a machine failed, and the commit is not to blame.
NIGHTJAR_ENUM(UntestableCause, does_not_compile, does_not_import, does_not_run, no_build_here,
              infrastructure);
// Whether the commit was tried, so that its having no run is its own doing.
inline bool was_tried(UntestableCause cause) {
  return cause != UntestableCause::no_build_here && cause != UntestableCause::infrastructure;
}

struct Untestable {
  int commit = 0;  // index into Bisection::commits
  UntestableCause cause = UntestableCause::no_build_here;
  std::string reason;  // what a run said; or what was looked for, and where
};

}  // namespace nightjar
