// The repository under search, read through git; each commit gets a work tree of its own that
// borrows the repository's objects. The repository itself is never written to.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace nightjar::cli {

struct CommitFacts {
  std::string subject, author, date;  // the day it was written, 2026-08-20
};

class SourceRepository {
 public:
  // Throws BadInput if `folder` is no git repository, Broken without git.
  SourceRepository(std::filesystem::path folder, std::stop_token stop);

  // 40 hex digits; throws BadInput with `role` ("good end") if there is no such commit.
  std::string commit_of(const std::string& revision, const std::string& role) const;
  // First-parent history after `good` up to and including `bad`, oldest first. Throws BadInput that
  // says why there is none: ends swapped or unrelated, shallow clone.
  std::vector<std::string> range(const std::string& good, const std::string& bad) const;
  CommitFacts facts(const std::string& commit) const;
  // Makes the commit's files, submodules included, in `folder`, which must not exist. Throws
  // Broken.
  void check_out(const std::string& commit, const std::filesystem::path& folder) const;

 private:
  std::string git(const std::vector<std::string>& arguments) const;  // output; throws Broken
  bool try_git(const std::vector<std::string>& arguments, std::string& output) const;
  bool is_ancestor(const std::string& older, const std::string& newer) const;

  std::filesystem::path folder_;
  std::filesystem::path git_folder_;  // of objects and shallow marks
  std::stop_token stop_;
};

}  // namespace nightjar::cli
