// The commits of the watched repository: ranges, folders, changed paths, file contents. Port with
// two implementations: a git repository (libgit2), and a literal list for tests.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/hex.hpp"
#include "storage/model/time.hpp"

namespace nightjar::git {

struct Commit {
  CommitSha sha;
  CommitSha tree;
  std::vector<CommitSha> parents;
  std::string author_name;
  std::string subject;  // the first line of its message; both have 1000 bytes at most
  Time committed_at{};
};

struct ChangedPath {
  enum class Kind { added, modified, deleted };
  Kind kind = Kind::modified;
  std::string path;
};

// One entry of a folder: a file, a link, a folder or a pinned submodule.
struct TreeEntry {
  unsigned mode = 0;  // as git writes it: 0100644, 0100755, 0120000 (link), 040000, 0160000 (pin)
  std::string name;
  CommitSha object;  // of the content, of the folder's tree, or the pinned commit
  bool is_folder() const { return mode == 040000; }
};

class CommitGraph {
 public:
  virtual ~CommitGraph() = default;
  // Brings new commits in. Throws std::runtime_error (with the remote's name) if that fails.
  virtual void fetch() = 0;
  virtual std::optional<Commit> find(const CommitSha& sha) const = 0;
  // A branch of the remote ("main", "nightly"), a tag, 40 hex digits, or at least 7 with which one
  // commit begins.
  virtual std::optional<CommitSha> resolve(std::string_view revision) const = 0;
  // main's first-parent history after `good` up to and including `bad`, oldest first. nullopt if
  // `good` is not a first-parent ancestor of `bad` within 10,000 commits.
  virtual std::optional<std::vector<Commit>> range(const CommitSha& good,
                                                   const CommitSha& bad) const = 0;
  virtual std::vector<ChangedPath> changed_paths(const CommitSha& from,
                                                 const CommitSha& to) const = 0;
  // What a tree or one of its folders holds, sorted as git sorts. Throws std::runtime_error if
  // there is no such tree.
  virtual std::vector<TreeEntry> entries(const CommitSha& tree) const = 0;
  // nullopt if there is no such file in that commit.
  virtual std::optional<std::string> file(const CommitSha& commit, std::string_view path) const = 0;
};

}  // namespace nightjar::git
