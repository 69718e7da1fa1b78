// The watched repository: a bare copy in the service's data folder, read and fetched through libgit2.
// Built by the composition root; asked by discovery (identity), planner (ranges, overlays) and reports.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "bisect/git/commit_graph.hpp"

struct git_repository;

namespace nightjar::git {

// How far a fetch is. `total` is 0 until the remote has said how much there is.
struct FetchProgress {
  std::size_t objects = 0;
  std::size_t total = 0;
  std::size_t received_bytes = 0;
};

struct RepositoryOptions {
  std::string url;              // of the remote; a local path will do
  std::filesystem::path path;   // of the bare copy; made if it is not there
  std::vector<std::string> branches = {"main", "nightly"};  // the first must exist
  std::function<bool(const FetchProgress&)> progress;       // false cancels; called while fetching
};

// May be used from several threads: calls follow one another, and a reader waits for a fetch.
class Repository final : public CommitGraph {
 public:
  // Opens the copy or makes an empty one; no network. The first fetch() is the clone. Throws
  // std::runtime_error that names the path.
  explicit Repository(RepositoryOptions options);
  ~Repository() override;
  Repository(const Repository&) = delete;
  Repository& operator=(const Repository&) = delete;

  void fetch() override;
  std::optional<Commit> find(const CommitSha& sha) const override;
  std::optional<CommitSha> resolve(std::string_view revision) const override;
  std::optional<std::vector<Commit>> range(const CommitSha& good,
                                           const CommitSha& bad) const override;
  std::vector<ChangedPath> changed_paths(const CommitSha& from, const CommitSha& to) const override;
  std::optional<std::string> file(const CommitSha& commit, std::string_view path) const override;

 private:
  struct Close {
    void operator()(git_repository* repository) const;
  };

  void open();
  [[noreturn]] void fail(const std::string& attempt, const std::string& advice) const;

  RepositoryOptions options_;
  std::unique_ptr<git_repository, Close> repository_;
  mutable std::mutex mutex_;
};

}  // namespace nightjar::git
