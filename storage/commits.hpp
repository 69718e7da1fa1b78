// Lists of commits in order, kept a row each. Private to this folder.
#pragma once

#include <string>
#include <vector>

#include "storage/statement.hpp"

namespace nightjar::storage {

// `table` is <owner>_commit with columns <owner>, position, commit_sha.
template <class Tag>
std::vector<CommitSha> read_commits(const Database& db, const std::string& owner, Id<Tag> id) {
  std::vector<CommitSha> commits;
  Statement find(
      db, "SELECT commit_sha FROM " + owner + "_commit WHERE " + owner + " = ? ORDER BY position");
  find.bind(id);
  while (find.step()) commits.push_back(find.next<CommitSha>());
  return commits;
}

// Replaces what is there, if it differs.
template <class Tag>
void write_commits(Transaction& transaction, const std::string& owner, Id<Tag> id,
                   const std::vector<CommitSha>& commits) {
  if (read_commits(transaction, owner, id) == commits) return;
  Statement(transaction, "DELETE FROM " + owner + "_commit WHERE " + owner + " = ?").bind(id).run();
  Statement insert(transaction, "INSERT INTO " + owner + "_commit (" + owner +
                                    ", position, commit_sha) VALUES (?, ?, ?)");
  for (std::size_t i = 0; i < commits.size(); ++i) insert.bind(id, i, commits[i]).run();
}

}  // namespace nightjar::storage
