#include "storage/commit_history.hpp"

#include "storage/builds.hpp"
#include "storage/regressions.hpp"
#include "storage/statement.hpp"

namespace nightjar::storage {

std::vector<Build> builds_of_commit(Database& db, const CommitSha& commit) {
  std::vector<Build> builds;
  Statement find(db, "SELECT id FROM build WHERE commit_sha = ? ORDER BY id DESC");
  find.bind(commit);
  while (find.step())
    if (auto build = find_build(db, find.next<BuildId>())) builds.push_back(*std::move(build));
  return builds;
}

std::vector<Bisection> bisections_of_commit(Database& db, const CommitSha& commit, int count) {
  std::vector<Bisection> bisections;
  Statement find(db,
                 "SELECT DISTINCT bisection FROM bisection_commit WHERE commit_sha = ? "
                 "ORDER BY bisection DESC LIMIT ?");
  find.bind(commit, count);
  while (find.step())
    if (auto found = find_bisection(db, find.next<BisectionId>()))
      bisections.push_back(*std::move(found));
  return bisections;
}

}  // namespace nightjar::storage
