// Regressions with every change of state, bisections as a log of sessions, and the outbox.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/outbox.hpp"
#include "storage/model/regression.hpp"
#include "storage/page.hpp"

namespace nightjar::storage {

// Stores the regression and its first change in one transaction; the one that is there (same night,
// lead series, bad build and part) is returned unchanged. Its state is the change's; it needs a
// series.
Regression add_regression(Database& db, const Regression& regression,
                          const RegressionChange& change);
// Writes the row and appends `change` (whose state becomes the regression's) in one transaction.
void change_regression(Database& db, const Regression& regression, const RegressionChange& change);
// Writes the row without a change of state.
void update_regression(Database& db, const Regression& regression);
std::optional<Regression> find_regression(Database& db, RegressionId id);
// The newest one with this fingerprint that was not merged into another.
std::optional<Regression> find_regression(Database& db, std::string_view fingerprint);
std::vector<RegressionChange> changes_of(Database& db, RegressionId id);
std::vector<Regression> regressions_in_state(Database& db, RegressionState state);
std::vector<Regression> regressions_of_night(Database& db, NightId night);
struct RegressionFilter {
  std::optional<RegressionState> state;
  std::optional<std::string> metric;
  std::optional<std::string> workload_glob;  // any affected series matches
  std::optional<Time> since;                 // opened at or after
  std::optional<CommitSha> commit;           // among the culprit's commits
};
Page<Regression> list_regressions(Database& db, const RegressionFilter& filter,
                                  const PageRequest& page);

// One a regression: the one that is there is returned unchanged.
Bisection add_bisection(Database& db, const Bisection& bisection);
void update_bisection(Database& db, const Bisection& bisection);
std::optional<Bisection> find_bisection(Database& db, BisectionId id);
std::optional<Bisection> bisection_of(Database& db, RegressionId regression);
// The search that found it: its own, or for a further culprit (part 1, 2, ...) that of the first.
std::optional<Bisection> search_behind(Database& db, RegressionId regression);
std::vector<Bisection> open_bisections(Database& db);
Page<Bisection> list_bisections(Database& db, const PageRequest& page);
void add_bisection_job(Database& db, BisectionId id, const BisectionJob& job);
std::vector<BisectionJob> jobs_of_bisection(Database& db, BisectionId id);    // in order added
void add_untestable(Database& db, BisectionId id, const Untestable& commit);  // once a commit
std::vector<Untestable> untestable_of(Database& db, BisectionId id);

// Queues a message unless its key exists.
void add_message(Database& db, const OutboxMessage& message);
void update_message(Database& db, const OutboxMessage& message);
std::vector<OutboxMessage> pending_messages(Database& db, Time now);
std::vector<OutboxMessage> messages_of(Database& db, RegressionId regression);
Page<OutboxMessage> list_messages(Database& db, const PageRequest& page);

}  // namespace nightjar::storage
