// The watched repository: a bare copy in the service's data folder, read through libgit2 and
// fetched by the git program. Built by the composition root; asked by discovery (identity), planner
// (ranges, overlays) and reports.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "bisect/git/commit_graph.hpp"
#include "storage/base/git_process.hpp"

struct git_repository;
struct git_tree;

namespace nightjar::git {

struct RepositoryOptions {
  std::string url;             // of the remote; a local path will do
  std::filesystem::path path;  // of the bare copy; made if it is not there
  std::vector<std::string> branches = {"main", "nightly"};  // the first must exist
  NetworkLimits limits;
  std::uint64_t most_bytes = 16ull << 30;  // of the copy's objects; what would bring more is ended
  std::vector<std::string> login;          // variables that tell git a password; of git alone
  std::function<void(std::string_view)> progress;  // each line that git says while fetching
};

// May be used from several threads. Only fetches wait for one another, readers never wait for a
// fetch.
class Repository final : public CommitGraph {
 public:
  // Opens the copy or makes an empty one; no network. The first fetch() is the clone. Throws
  // std::runtime_error that names the path.
  explicit Repository(RepositoryOptions options);
  ~Repository() override;
  Repository(const Repository&) = delete;
  Repository& operator=(const Repository&) = delete;

  // A killed fetch leaves the branches as they were, and what it brought is not used. The same
  // holds for a fetch that is ended because the copy has too many bytes. If the folder of the copy
  // is gone, it is cloned again.
  void fetch() override;
  // Asks the remote, and brings nothing: which of the branches it lacks. Throws as fetch() does.
  std::vector<std::string> missing_branches();
  // From any thread: ends a fetch that is under way, and refuses later ones.
  void stop();
  std::optional<Commit> find(const CommitSha& sha) const override;
  std::optional<CommitSha> resolve(std::string_view revision) const override;
  std::optional<std::vector<Commit>> range(const CommitSha& good,
                                           const CommitSha& bad) const override;
  std::vector<ChangedPath> changed_paths(const CommitSha& from, const CommitSha& to) const override;
  std::vector<TreeEntry> entries(const CommitSha& tree) const override;
  std::optional<std::string> file(const CommitSha& commit, std::string_view path) const override;

 private:
  struct Close {
    void operator()(git_repository* repository) const;
    void operator()(git_tree* tree) const;
  };

  void open();
  void open_again();
  std::string ask(const std::vector<std::string>& arguments, const NetworkLimits& limits);
  std::string listing();  // the remote's "<sha>\t<ref>" lines of the branches
  std::vector<std::string> changed_branches(const std::string& listing) const;
  // Both need mutex_.
  std::optional<Commit> read(const CommitSha& sha) const;
  std::unique_ptr<git_tree, Close> tree_of(const CommitSha& commit) const;
  std::optional<CommitSha> tip(std::string_view branch) const;
  [[noreturn]] void fail(const std::string& attempt, const std::string& advice) const;

  RepositoryOptions options_;
  const std::string shown_url_;
  std::unique_ptr<git_repository, Close> repository_;
  mutable std::mutex mutex_;  // of libgit2's objects; never held over a network call
  mutable std::map<CommitSha, Commit> huge_;  // what was read of commits of megabytes
  std::mutex fetching_;
  std::stop_source stop_;
};

}  // namespace nightjar::git
