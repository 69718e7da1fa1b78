// One cause, however many series show it; every change of its state carries its evidence.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/model/enum.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"
#include "storage/model/time.hpp"

namespace nightjar {

// inconclusive: confirmed, but the search could not name a culprit; nobody is blamed.
// unconfirmed: its confirmation was cut short by lost jobs or void sessions. The next night takes
// it up again. merged: another regression turned out to have the same cause (`merged_into`).
NIGHTJAR_ENUM(RegressionState, suspected, confirmed, bisecting, blamed, reported, recovered,
              dismissed, inconclusive, merged, unconfirmed);

// search: a further culprit of another regression's search.
NIGHTJAR_ENUM(FoundBy, screening, creep, search);

// What one series shows: location before and after, and their ratio with its 95 % interval.
struct AffectedSeries {
  SeriesId series;
  double before = 0, after = 0;
  double ratio = 1, low = 1, high = 1;
};

// Adjacent commits, oldest first, that could not be told apart because those between do not build.
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
  std::optional<RegressionId> merged_into;
  int unfinished = 0;       // confirmations that were cut short
  std::string fingerprint;  // hidden in the issue; set when blamed
  std::optional<std::int64_t> issue_number;
  std::string issue_url;  // empty until filed; a file path in a dry run
  Time opened_at{};
  Time updated_at{};
};

// `evidence` is a JSON object: what was decided, on what, and by which rule.
struct RegressionChange {
  RegressionState state = RegressionState::suspected;
  Time at{};
  std::string evidence;
};

NIGHTJAR_ENUM(BisectionState, open, culprit, not_reproduced, inconclusive);

struct Bisection {
  BisectionId id;
  RegressionId regression;
  SeriesId series;  // the lead: what is measured decides
  BisectionState state = BisectionState::open;
  std::vector<CommitSha> commits;  // [0] is the good end's commit, the last one the bad end's
  BuildId good, bad;
  std::string posterior;     // JSON array of {"commits": [...], "probability": p}; the latest
  double spent_seconds = 0;  // of measuring, in the search's own sessions
  double expected_runs = 0;  // rough rest until an answer
  Time started_at{};
  std::optional<Time> finished_at;
  int runs = 0, sessions = 0;  // that the posterior rests on, the confirmation's included
};

// One job of a bisection: `session` numbers the sessions of the search from 0; jobs that continued
// a session share its number.
struct BisectionJob {
  JobId job;
  int session = 0;
};

struct Untestable {
  int commit = 0;  // index into Bisection::commits
  std::string reason;
};

}  // namespace nightjar
