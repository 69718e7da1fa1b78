// The repository under search, read through git. It is never written to.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "service/cli/ask_git.hpp"
#include "service/cli/git_folder.hpp"

namespace nightjar::cli {

// A version of a package has a subject alone.
struct CommitFacts {
  std::string subject, author, date;  // the day it was written, 2026-08-20
  bool is_merge = false;
};

// Commits that a merge brought, along the first parents of the branch's tip.
struct MergedBranch {
  std::string tip;
  std::string point;    // the last commit before them; empty: the branch began with nothing
  std::size_t commits;  // 0: there was nothing new in it
};

class SourceRepository {
 public:
  // Throws BadInput with git's own words if git finds no repository in `folder` or refuses it, and
  // Broken without git.
  SourceRepository(std::filesystem::path folder, std::stop_token stop);

  // The id of a commit, 40 or 64 hex digits; throws BadInput with `role` ("good end") if there is
  // no such commit.
  std::string commit_of(const std::string& revision, const std::string& role) const;
  // First-parent history after `good` up to and including `bad`, oldest first. Throws BadInput that
  // says why there is none: ends swapped or unrelated, shallow clone.
  // With `paths` only the commits that changed one of these, and `bad`; BadInput if none did.
  std::vector<std::string> range(const std::string& good, const std::string& bad,
                                 const std::vector<std::string>& paths) const;
  CommitFacts facts(const std::string& commit) const;
  std::vector<std::string> parents(const std::string& commit) const;
  // What the branch that ends at `tip` has besides the histories of `known`.
  MergedBranch branch(const std::string& tip, const std::vector<std::string>& known) const;
  const GitFolders& git_folders() const { return folders_; }

 private:
  git::GitOutcome ask(std::vector<std::string> arguments) const;
  std::string answer(std::vector<std::string> arguments) const;  // throws Broken
  std::vector<std::string> words_in_answer(std::vector<std::string> arguments) const;
  [[noreturn]] void refuse_ends(const std::string& good, const std::string& bad,
                                const std::string& attempt) const;
  bool is_ancestor(const std::string& older, const std::string& newer) const;
  bool is_shallow() const;

  std::filesystem::path folder_;
  std::stop_token stop_;
  GitFolders folders_;
};

}  // namespace nightjar::cli
