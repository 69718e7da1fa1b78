// From rows to what a search reads: its log of runs, by position of the commit or the environment.
// Used by the searches' steps, by reports and by REST.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bisect/search.hpp"
#include "service/engine/jobs/session_check.hpp"
#include "storage/database.hpp"
#include "storage/model/fix.hpp"
#include "storage/model/job.hpp"
#include "storage/model/regression.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

// A session whose runs are in the log, or will be.
struct LogPart {
  int session = 0;  // as the log counts
  Job job;
  int runs = 0;
  bool own = false;  // of the search itself: neither the confirmation's nor another search's
  SessionOutcome::State state = SessionOutcome::State::usable;
  std::string failure;
};

// Values are as they were measured, also while the search goes on.
struct SearchRuns {
  bisect::SearchLog log;          // `commits` and `runs`; the rest is empty
  std::vector<RunId> runs;        // of the log, one by one
  std::vector<BuildId> wheels;    // by run: the wheel that its build lies on
  std::map<int, BuildId> builds;  // of the log's runs, by position; the last one used
  std::vector<LogPart> parts;
  int first_own = 0;     // number of the search's first own session, as the log counts
  bool pending = false;  // a session is under way
};
// Where builds stand in a search.
class Positions {
 public:
  virtual ~Positions() = default;
  // -1: not a build of this search.
  virtual int of(BuildId build) = 0;
  // Whether a build at the position of an end is that end itself, and not its like on another
  // wheel.
  virtual bool is_the_end(BuildId build) const = 0;
  // The wheel that a build lies on; itself, if it lies on none.
  virtual BuildId wheel_of(BuildId build) = 0;
};

// Whose sessions make a log.
struct LogSources {
  int last = 0;                                    // position of the bad end
  std::vector<std::vector<BisectionJob>> earlier;  // of other searches, whose runs count, too
  std::vector<BisectionJob> own;
};
// The confirmation's sessions come first: they are runs of both ends like any other. Then come
// those of earlier searches, and the search's own.
SearchRuns load_runs(const storage::Database& db, const LogSources& sources, Positions& positions,
                     const SearchedChange& change, const Series& series);
// The log of a bisection. Its earlier searches are the night's that ran the same workload, for
// another of its metrics.
SearchRuns load_runs(const storage::Database& db, const Bisection& bisection,
                     const SearchedChange& change, const Series& series);
// Whether a session of the search is under way: then there is nothing to decide yet.
bool is_measuring(const storage::Database& db, const Bisection& bisection);

// Returns the log in costs, which the search expects. Inverts values that should be high. Replaces
// slopes by the judged values, for the search's threshold. Inverts the costs of what got better.
bisect::SearchLog in_cost(bisect::SearchLog log, const Series& series, double threshold,
                          bool is_better = false);

// What the search's own sessions came to, besides their runs.
struct SearchProgress {
  int sessions = 0;          // that have runs in the log
  int uninformative = 0;     // sessions at the end of the log that gave no run at all
  int disturbed = 0;         // and such whose runs never saw the machine undisturbed
  std::string last_failure;  // of these
  double seconds = 0;        // of measuring, setting environments up included
  int next_session = 0;      // number of the next new session, counted as the search counts
  std::optional<Job> last;   // the search's last usable session, to go on with
  int last_session = 0;      // and its number
  std::vector<Untestable> newly_untestable;
  std::map<int, UntestableCause> causes;  // of all untestable commits, by position
  // Positions that failed in every run on a wheel, but not on all of their wheels.
  std::set<std::pair<int, BuildId>> failed;
};
// `causes`: of what is untestable already. `since`: sessions that were asked for earlier do not
// count as uninformative or disturbed.
SearchProgress load_progress(const storage::Database& db, const SearchRuns& runs,
                             Positions& positions, const SearchedChange& change,
                             const Series& series, std::map<int, UntestableCause> causes,
                             Time since = {});
SearchProgress load_progress(const storage::Database& db, const Bisection& bisection,
                             const SearchedChange& change, const SearchRuns& runs,
                             const Series& series, Time since = {});

}  // namespace nightjar::service
