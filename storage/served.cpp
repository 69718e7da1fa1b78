#include "storage/served.hpp"

#include "storage/paging.hpp"

namespace nightjar::storage {

namespace {

// Whether a search is open, or ended with a range and may go on. The search of a fix never goes on,
// since its answer is reported when it ends.
#define IS_TAKEN_UP \
  "(search.state = 'open' OR (search.state = 'range' AND search.regression IS NOT NULL))"

SearchedCommit read_commit(Statement& row) {
  return {row.next<BisectionId>(), row.next<int>()};
}

}  // namespace

std::vector<SearchedCommit> commits_without_build(const Database& db, Time since) {
  Statement find(db,
                 "SELECT search.id, waiting.position FROM bisection AS search "
                 "JOIN bisection_untestable AS waiting ON waiting.bisection = search.id "
                 "WHERE " IS_TAKEN_UP
                 " AND waiting.cause = 'no_build_here' "
                 "AND (search.finished_at_us IS NULL OR search.finished_at_us >= ?) "
                 "ORDER BY search.id, waiting.position");
  return read_all(find.bind(since), read_commit);
}

std::vector<SearchedCommit> commits_with_wheels(const Database& db, std::string_view variant,
                                                int rules, Time since) {
  Statement find(
      db,
      "SELECT search.id, waiting.position FROM bisection AS search "
      "JOIN bisection_untestable AS waiting ON waiting.bisection = search.id "
      "JOIN bisection_commit AS tried ON tried.bisection = waiting.bisection "
      "AND tried.position = waiting.position "
      "JOIN commit_state AS wanted ON wanted.commit_sha = tried.commit_sha AND wanted.rules = ? "
      "WHERE " IS_TAKEN_UP
      " AND waiting.cause = 'no_build_here' "
      "AND (search.finished_at_us IS NULL OR search.finished_at_us >= ?) "
      "AND EXISTS (SELECT 1 FROM commit_state AS there "
      "JOIN build ON build.commit_sha = there.commit_sha "
      "WHERE there.library_state = wanted.library_state AND there.rules = wanted.rules "
      "AND build.state = 'proved' AND build.kind NOT IN ('overlay', 'crossed') AND build.variant = "
      "?) "
      "ORDER BY search.id, waiting.position");
  return read_all(find.bind(rules, since, variant), read_commit);
}

}  // namespace nightjar::storage
