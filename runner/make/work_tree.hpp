// A checkout that a builder keeps: cloned once, moved from commit to commit, with the folders of
// the build kept warm. Only one process may use it at a time; make_wheel() holds a lock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "runner/process/process.hpp"
#include "storage/model/hex.hpp"

namespace nightjar::runner {

class WorkTree {
 public:
  // `folder` is this tree's own. `say` is told what takes long.
  WorkTree(std::filesystem::path folder, std::string repository,
           std::function<void(const std::string&)> say);

  const std::filesystem::path& path() const { return tree_; }

  // Ends what a killed builder left running in the tree and removes git's stale locks.
  void repair();
  // Returns the commit that `revision` names in the repository, fetching what is missing. Throws
  // WrongUse if there is no such commit, TransientFailure if the repository cannot be read, and
  // Stopped.
  CommitSha resolve(const std::string& revision, std::stop_token stop);
  // Seconds since 1970 of when `commit`, which resolve() returned, was committed.
  std::int64_t committed_at(const CommitSha& commit, std::stop_token stop) const;
  // Checks `commit` out, with submodules if asked. Removes everything else except the folders
  // `keep`. What git cannot repair is cloned again; submodules only if a build was `interrupted`,
  // since otherwise the network is to blame. Throws as resolve() does.
  void move_to(const CommitSha& commit, bool submodules, const std::vector<std::string>& keep,
               bool interrupted, std::stop_token stop);

  // The variable by which the processes that work in a tree are known.
  static constexpr const char* mark_file = "NIGHTJAR_WORK_TREE";

 private:
  void clone(std::stop_token stop);
  void bring(const std::string& revision, bool exact, std::stop_token stop);
  bool holds(const std::string& revision, std::stop_token stop);
  void check_out(const CommitSha& commit, const std::stop_token& stop);
  void update_submodules(bool interrupted, const std::stop_token& stop);
  ProcessResult git(std::vector<std::string> arguments, std::stop_token stop) const;
  // Throws TransientFailure with `attempt` unless git ends well.
  void require(const std::string& attempt, std::vector<std::string> arguments,
               std::stop_token stop) const;

  const std::filesystem::path folder_, tree_;
  const std::string repository_;
  const std::function<void(const std::string&)> say_;
};

}  // namespace nightjar::runner
