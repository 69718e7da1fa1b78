// The git folder of each work tree: a repository of its own with the configuration, the replaced
// objects and the tags of the repository under search, whose objects it borrows. Objects that are
// fetched for one work tree are there for all. Used by tree_maker.hpp.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace nightjar::cli {

// Where git keeps what belongs to a work tree, and what belongs to the repository.
struct GitFolders {
  std::filesystem::path own, common;
  std::filesystem::path base;  // where relative addresses of remotes start
};

class GitFolderPattern {
 public:
  // Makes the pattern in `root`, a folder of its own that outlives all copies. Throws Broken.
  GitFolderPattern(const GitFolders& source, std::filesystem::path root, std::stop_token stop);

  // A git folder at `target`, which must not exist, whose HEAD is `commit`.
  void copy_to(const std::filesystem::path& target, const std::string& commit) const;
  // Lends the objects of the submodules below `modules`, which a work tree has fetched, to all
  // later copies.
  void borrow_modules(const std::filesystem::path& modules);

 private:
  void borrow(const GitFolders& source, const std::filesystem::path& name);
  // Returns the alternate that leads to a store of Git LFS.
  std::filesystem::path lend_lfs(const std::filesystem::path& storage,
                                 const std::filesystem::path& name) const;
  void borrow_modules(const std::filesystem::path& modules, const std::filesystem::path& name);
  void borrow_embedded(const std::filesystem::path& tree);
  std::string listing(const std::filesystem::path& git_folder,
                      std::vector<std::string> arguments) const;

  const std::filesystem::path root_;
  std::stop_token stop_;
};

}  // namespace nightjar::cli
