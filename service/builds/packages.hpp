// Which Python files of a commit setup.py installs: those of packages, which are folders with an
// __init__.py below one another. Used by plan_overlay.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bisect/git/commit_graph.hpp"

namespace nightjar::service {

class Packages {
 public:
  Packages(const git::CommitGraph& graph, CommitSha commit)
      : graph_(graph), commit_(std::move(commit)) {}

  // False for a Python file in a folder that is no package. Other files are installed by their
  // names. The top folder counts as a package.
  bool installs(const std::string& path) const;
  // Paths of all files below `folder`, which ends in a slash; empty if the commit has no such
  // folder.
  std::vector<std::string> below(std::string_view folder) const;

 private:
  bool is_package(const std::string& folder) const;

  const git::CommitGraph& graph_;
  const CommitSha commit_;
  mutable std::map<std::string, bool> known_;  // by folder
};

}  // namespace nightjar::service
