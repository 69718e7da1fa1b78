#include "service/builds/packages.hpp"

#include <algorithm>
#include <optional>

namespace nightjar::service {
namespace {

void list_files(const git::CommitGraph& graph, const CommitSha& tree, const std::string& prefix,
                std::vector<std::string>& paths) {
  for (const git::TreeEntry& entry : graph.entries(tree)) {
    if (entry.is_folder())
      list_files(graph, entry.object, prefix + entry.name + "/", paths);
    else
      paths.push_back(prefix + entry.name);
  }
}

std::optional<CommitSha> folder_in(const git::CommitGraph& graph, const CommitSha& tree,
                                   std::string_view name) {
  for (const git::TreeEntry& entry : graph.entries(tree))
    if (entry.is_folder() && entry.name == name) return entry.object;
  return std::nullopt;
}

}  // namespace

bool Packages::is_package(const std::string& folder) const {
  const auto [known, is_new] = known_.try_emplace(folder, false);
  if (is_new) known->second = graph_.file(commit_, folder + "__init__.py").has_value();
  return known->second;
}

bool Packages::installs(const std::string& path) const {
  if (!path.ends_with(".py")) return true;
  for (auto slash = path.find('/', path.find('/') + 1); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    if (!is_package(path.substr(0, slash + 1))) return false;
  return true;
}

std::vector<std::string> Packages::below(std::string_view folder) const {
  std::vector<std::string> paths;
  const auto commit = graph_.find(commit_);
  auto tree = commit ? std::optional(commit->tree) : std::nullopt;
  for (std::string_view rest = folder; tree && !rest.empty();) {
    const auto slash = std::min(rest.find('/'), rest.size() - 1);
    tree = folder_in(graph_, *tree, rest.substr(0, slash));
    rest.remove_prefix(slash + 1);
  }
  if (tree) list_files(graph_, *tree, std::string(folder), paths);
  return paths;
}

}  // namespace nightjar::service
