#include "storage/references.hpp"

#include "storage/paging.hpp"

namespace nightjar::storage {
namespace {

std::vector<BuildName> names_in(Statement& found) {
  return read_all(found, [](Statement& row) -> BuildName {
    return {row.next<BuildId>(), row.next<std::string>()};
  });
}

}  // namespace

std::vector<CommitSha> commits_beginning_with(const Database& db, std::string_view digits,
                                              int most) {
  Statement find(db,
                 "SELECT DISTINCT commit_sha FROM build "
                 "WHERE commit_sha >= ?1 AND commit_sha < ?1 || 'g' LIMIT ?2");
  return read_all(find.bind(digits, most), [](Statement& row) { return row.next<CommitSha>(); });
}

std::vector<BuildName> builds_called(const Database& db, std::string_view text, int most) {
  Statement whole(db,
                  "SELECT id, version FROM build WHERE version = ? AND kind IN "
                  "('nightly', 'ci', 'overlay', 'source', 'crossed') ORDER BY id LIMIT ?");
  auto found = names_in(whole.bind(text, most));
  if (!found.empty()) return found;
  Statement begun(db,
                  "SELECT id, version FROM build WHERE kind IN ('nightly', 'ci', 'source') "
                  "AND version >= ?1 AND version < ?1 || '~' "
                  "UNION SELECT id, version FROM build "
                  "WHERE commit_sha >= ?1 AND commit_sha < ?1 || 'g' "
                  "AND kind IN ('nightly', 'ci', 'source') ORDER BY id LIMIT ?2");
  return names_in(begun.bind(text, most));
}

}  // namespace nightjar::storage
