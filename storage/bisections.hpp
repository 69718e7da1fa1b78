// Bisections as a log of sessions, and the commits that could not be tested.
#pragma once

#include <optional>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/regression.hpp"
#include "storage/page.hpp"

namespace nightjar::storage {

// One a regression or fix: the one that is there is returned unchanged.
Bisection add_bisection(Transaction& transaction, const Bisection& bisection);
void update_bisection(Transaction& transaction, const Bisection& bisection);
std::optional<Bisection> find_bisection(const Database& db, BisectionId id);
std::optional<Bisection> bisection_of(const Database& db, RegressionId regression);
std::optional<Bisection> bisection_of(const Database& db, FixId fix);
// The search that found it: its own, or for a further culprit (part 1, 2, ...) that of the first.
std::optional<Bisection> search_behind(const Database& db, RegressionId regression);
std::vector<Bisection> bisections_in_state(const Database& db, BisectionState state);
std::vector<Bisection> open_bisections(const Database& db);
// The newest searches in whose range the commit lies, at most `count`, newest first.
std::vector<Bisection> bisections_of_commit(const Database& db, const CommitSha& commit, int count);
Page<Bisection> list_bisections(const Database& db, const PageRequest& page);
void add_bisection_job(Transaction& transaction, BisectionId id, const BisectionJob& job);
std::vector<BisectionJob> jobs_of_bisection(const Database& db, BisectionId id);  // in order added
void add_untestable(Transaction& transaction, BisectionId id,
                    const Untestable& commit);  // once a commit
void remove_untestable(Transaction& transaction, BisectionId id, int commit);
std::vector<Untestable> untestable_of(const Database& db, BisectionId id);

}  // namespace nightjar::storage
