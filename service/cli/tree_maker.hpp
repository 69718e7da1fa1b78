// Makes work trees of commits: exactly what git would check out, or none. Used by work_trees.hpp.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "service/cli/checkout.hpp"
#include "service/cli/git_folder.hpp"

namespace nightjar::cli {

class TreeMaker {
 public:
  // Keeps what the work trees share in `root`, which outlives them.
  TreeMaker(const SourceRepository& repository, std::filesystem::path root, std::stop_token stop);

  // Makes the commit's files, submodules included, in `folder`, which must not exist. Returns why
  // git cannot; empty: the work tree is whole. Throws Broken if not the commit is to blame.
  std::string make(const std::string& commit, const std::filesystem::path& folder);

 private:
  std::string fill(const std::string& commit, const std::filesystem::path& folder);
  std::string ask_what_is_missing(const std::vector<std::string>& place) const;
  std::string fill_submodules(const std::filesystem::path& folder);

  const SourceRepository& repository_;
  const std::filesystem::path root_;
  std::stop_token stop_;
  std::optional<GitFolderPattern> pattern_;  // made with the first work tree
};

}  // namespace nightjar::cli
