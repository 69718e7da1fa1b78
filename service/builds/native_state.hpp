// What compiled files of a commit depend on, as a hash: commits with the same one are a native
// group, wherever in history they lie, and one wheel serves all of them. Used by the engine and by
// whatever proves or mirrors wheels.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "bisect/git/commit_graph.hpp"
#include "service/project.hpp"
#include "storage/base/digest.hpp"
#include "storage/model/build.hpp"

namespace nightjar::service {

// Hashes folder by folder and keeps what it hashed: a folder that is the same in the next commit is
// not read again. Keep one object for the commits of one question; it holds some megabytes.
class NativeStates {
 public:
  NativeStates(const git::CommitGraph& graph, const Project& project)
      : graph_(graph), project_(project) {}

  // Returns hashes of the paths, modes and contents of all files that classify() calls native, pins
  // of submodules and of builds included. nullopt if the repository does not have the commit.
  // Throws std::runtime_error if the copy is damaged.
  std::optional<CommitState> of(const CommitSha& commit);

 private:
  // The hashes of what lies below a folder; nullopt: it has nothing of that kind.
  struct Folded {
    std::optional<Sha256> native, library;
  };
  const Folded& fold(const CommitSha& tree, const std::string& prefix);

  const git::CommitGraph& graph_;
  const Project project_;
  std::map<std::pair<CommitSha, std::string>, Folded> folders_;  // by tree and path
};

}  // namespace nightjar::service
