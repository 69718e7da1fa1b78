// From rows to what the search reads: the log of runs of one bisection, by position of the commit.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bisect/search.hpp"
#include "service/engine/context.hpp"
#include "storage/model/job.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

// A job whose runs are in the log, or will be.
struct LogPart {
  int session = 0;  // as the log counts
  Job job;
  int runs = 0;
  bool own = false;  // of the search itself: neither the confirmation's nor another search's
};

struct GatheredLog {
  bisect::SearchLog log;
  std::vector<RunId> runs;   // of the log, one by one
  int sessions = 0;          // that have runs in the log
  bool pending = false;      // a session is under way: there is nothing to decide yet
  int uninformative = 0;     // sessions at the end of the log that gave no run at all
  int disturbed = 0;         // and such whose runs never saw the machine undisturbed
  std::string last_failure;  // of these
  double seconds = 0;        // of measuring, setting environments up included
  int next_session = 0;      // number of the next new session, counted as the bisection counts
  std::optional<Job> last;   // the bisection's last usable session, to go on with
  int last_session = 0;      // and its number
  std::vector<Untestable> newly_untestable;
  std::vector<LogPart> parts;  // of gather_log: only the sessions before the search's own
};

// The confirmation's sessions come first: they are runs of both ends like any other. Then those of
// the night's earlier searches that ran the same workload, for another of its metrics.
GatheredLog gather_log(EngineContext& context, const Bisection& bisection,
                       const Regression& regression, const Series& series);

// The same runs in the same sessions for somebody who only looks, also while the search goes on:
// nothing is judged or queued, and values stay as they were measured. Fills log.runs, parts and
// pending.
GatheredLog read_log(storage::Database& db, const Bisection& bisection,
                     const Regression& regression, const Series& series);

}  // namespace nightjar::service
