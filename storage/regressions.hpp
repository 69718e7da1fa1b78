// Regressions with every change of state.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/domain.hpp"
#include "storage/model/regression.hpp"
#include "storage/page.hpp"

namespace nightjar::storage {

// Stores the regression and its first change in one transaction; the one that is there (same night,
// lead series, bad build and part) is returned unchanged. Its state is the change's; it needs a
// series. Throws std::logic_error for a state that none begins in.
Regression add_regression(Transaction& transaction, const Regression& regression,
                          const RegressionChange& change);
// Writes the row and appends `change` (whose state becomes the regression's) in one transaction.
// Throws std::logic_error if the stored state cannot be followed by that one (model/lifecycle.hpp).
void change_regression(Transaction& transaction, const Regression& regression,
                       const RegressionChange& change);
// Writes the row without a change of state.
void update_regression(Transaction& transaction, const Regression& regression);
std::optional<Regression> find_regression(const Database& db, RegressionId id);
// The newest one with this fingerprint that was not merged into another.
std::optional<Regression> find_regression(const Database& db, std::string_view fingerprint);
std::vector<RegressionChange> changes_of(const Database& db, RegressionId id);
std::vector<Regression> regressions_in_state(const Database& db, RegressionState state);
// Returns the reported regressions that have neither a culprit nor a range.
std::vector<Regression> reported_without_name(const Database& db);
// Leaves out states without regressions.
std::map<RegressionState, int> count_regressions(const Database& db);
std::vector<Regression> regressions_of_night(const Database& db, NightId night);
// Returns the regression into which it was merged in the end; itself if it was not merged.
Regression standing_for(const Database& db, Regression regression);
// Returns the regressions that were merged into it, or into one of those.
std::vector<Regression> merged_into(const Database& db, RegressionId id);
// Returns the regressions from the change points of an imported series, in any state.
std::vector<Regression> findings_of_history(const Database& db, SeriesId series);
// Each commit that a regression's culprit names, once.
std::vector<CommitSha> blamed_commits(const Database& db);
struct RegressionFilter {
  std::optional<RegressionState> state = {};
  std::optional<std::string> metric = {};
  WorkloadFilter workload = {};            // any affected series matches
  std::optional<Time> since = {};          // opened at or after
  std::optional<CommitSha> commit = {};    // among the culprit's commits
  std::optional<MachineId> machine = {};   // a class that shows it
  std::optional<Time> changed_since = {};  // its state, at or after
  std::optional<std::int64_t> issue = {};  // that has this number
  std::optional<SeriesId> series = {};     // among the affected ones
  // Any of these states; any of these among the culprit's commits.
  std::optional<std::vector<RegressionState>> states = {};
  std::optional<std::vector<CommitSha>> commits = {};
  template <class Where>
  void conditions(Where where) const {
    where("state = ?", state);
    where(
        "EXISTS (SELECT 1 FROM regression_series a JOIN series ON series.id = a.series "
        "WHERE a.regression = regression.id AND series.metric = ?)",
        metric);
    where(
        "EXISTS (SELECT 1 FROM regression_series a JOIN series ON series.id = a.series "
        "WHERE a.regression = regression.id AND " IS_AMONG("series.workload") ")",
        workload);
    where(
        "EXISTS (SELECT 1 FROM regression_series a "
        "WHERE a.regression = regression.id AND a.series = ?)",
        series);
    where(
        "EXISTS (SELECT 1 FROM regression_class AS c WHERE c.regression = regression.id "
        "AND c.state = 'seen' AND c.machine = ?)",
        machine);
    where("opened_at_us >= ?", since);
    where("updated_at_us >= ?", changed_since);
    where("issue_number = ?", issue);
    where("is_range = 0 AND id IN (SELECT regression FROM regression_commit WHERE commit_sha = ?)",
          commit);
    where(IS_AMONG("state"), states);
    where(
        "is_range = 0 AND id IN (SELECT regression FROM regression_commit WHERE commit_sha IN "
        "(SELECT value FROM json_each(?)))",
        commits);
  }
};
Page<Regression> list_regressions(const Database& db, const RegressionFilter& filter,
                                  const PageRequest& page);

}  // namespace nightjar::storage
