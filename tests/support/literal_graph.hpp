// A commit graph that is written down instead of cloned: the double for tests of everything above
// it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bisect/git/commit_graph.hpp"

namespace nightjar::git {

class LiteralGraph final : public CommitGraph {
 public:
  using Files = std::map<std::string, std::string>;
  // Path to its new content; nullopt deletes it.
  using Changes = std::map<std::string, std::optional<std::string>>;

  // Puts a commit on top of `branch` (made if new) and returns its name, which depends on the
  // number of commits so far only. Equal files have equal trees. Time goes on by a minute a commit.
  CommitSha commit(const std::string& branch, const std::string& message,
                   const Changes& changes = {});
  // The commit that PyTorch's release job makes: on `branch`, with the tree of `main_commit`.
  CommitSha release(const std::string& branch, const std::string& date,
                    const CommitSha& main_commit);

  // Commits made from now on are seen only after fetch().
  void hide_until_fetch() { hidden_ = true; }
  int fetches() const { return fetches_; }

  void fetch() override;
  std::optional<Commit> find(const CommitSha& sha) const override;
  std::optional<CommitSha> resolve(std::string_view revision) const override;
  std::optional<std::vector<Commit>> range(const CommitSha& good,
                                           const CommitSha& bad) const override;
  std::vector<ChangedPath> changed_paths(const CommitSha& from, const CommitSha& to) const override;
  std::vector<TreeEntry> entries(const CommitSha& tree) const override;
  std::optional<std::string> file(const CommitSha& commit, std::string_view path) const override;

 private:
  struct Entry {
    Commit commit;
    Files files;
    bool hidden = false;
  };
  CommitSha add(const std::string& branch, const std::string& message, Files files);
  const Entry* entry(const CommitSha& sha) const;
  const Files& files_of(const CommitSha& tree) const;

  std::vector<Entry> entries_;
  std::map<CommitSha, std::size_t> index_;
  std::map<std::string, CommitSha, std::less<>> branches_;  // as the remote has them
  std::map<std::string, CommitSha, std::less<>> seen_;      // as fetched
  std::map<Files, CommitSha> trees_;
  // Folders and contents get their names when somebody asks for them.
  mutable std::map<Files, CommitSha> folders_;
  mutable std::map<CommitSha, Files> files_of_folder_;
  mutable std::map<std::string, CommitSha> contents_;
  bool hidden_ = false;
  int fetches_ = 0;
};

}  // namespace nightjar::git
