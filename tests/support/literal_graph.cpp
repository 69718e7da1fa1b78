#include "tests/support/literal_graph.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace nightjar::git {
namespace {

// A name like "c0000000017000…": readable in a failed test, told apart by its first 12 digits as
// real ones are, and never equal to a tree's.
CommitSha numbered(char kind, std::size_t number) {
  std::array<char, 41> text{};
  std::snprintf(text.data(), text.size(), "%c%010zu%029d", kind, number, 0);
  return *CommitSha::parse(text.data());
}

}  // namespace

CommitSha LiteralGraph::add(const std::string& branch, const std::string& message, Files files) {
  const auto number = entries_.size() + 1;
  const auto tree = trees_.try_emplace(files, numbered('f', trees_.size() + 1)).first->second;
  Commit commit{.sha = numbered('c', number),
                .tree = tree,
                .parents = {},
                .author_name = "Ada Author",
                .subject = message.substr(0, message.find('\n')),
                .committed_at = Time(std::chrono::hours(24 * 20000)) +
                                std::chrono::minutes(static_cast<std::int64_t>(number))};
  if (const auto tip = branches_.find(branch); tip != branches_.end()) {
    commit.parents.push_back(tip->second);
  }
  const auto sha = commit.sha;
  index_.emplace(sha, entries_.size());
  entries_.push_back({std::move(commit), std::move(files), hidden_});
  branches_.insert_or_assign(branch, sha);
  if (!hidden_) seen_.insert_or_assign(branch, sha);
  return sha;
}

CommitSha LiteralGraph::commit(const std::string& branch, const std::string& message,
                               const Changes& changes) {
  Files files;
  if (const auto tip = branches_.find(branch); tip != branches_.end()) {
    files = entries_[index_.at(tip->second)].files;
  }
  for (const auto& [path, content] : changes) {
    if (content) {
      files.insert_or_assign(path, *content);
    } else {
      files.erase(path);
    }
  }
  return add(branch, message, std::move(files));
}

CommitSha LiteralGraph::release(const std::string& branch, const std::string& date,
                                const CommitSha& main_commit) {
  return add(branch, date + " nightly release (" + main_commit.str() + ")",
             entries_.at(index_.at(main_commit)).files);
}

void LiteralGraph::fetch() {
  ++fetches_;
  seen_ = branches_;
  for (auto& entry : entries_) entry.hidden = false;
}

const LiteralGraph::Entry* LiteralGraph::entry(const CommitSha& sha) const {
  const auto found = index_.find(sha);
  if (found == index_.end() || entries_[found->second].hidden) return nullptr;
  return &entries_[found->second];
}

std::optional<Commit> LiteralGraph::find(const CommitSha& sha) const {
  const auto* found = entry(sha);
  if (!found) return std::nullopt;
  return found->commit;
}

std::optional<CommitSha> LiteralGraph::resolve(std::string_view revision) const {
  if (const auto tip = seen_.find(revision); tip != seen_.end()) return tip->second;
  if (const auto sha = CommitSha::parse(revision))
    return entry(*sha) ? std::optional(*sha) : std::nullopt;
  std::vector<CommitSha> begin_so;
  for (const auto& [sha, index] : index_)
    if (revision.size() >= 7 && sha.str().starts_with(revision) && entry(sha))
      begin_so.push_back(sha);
  return begin_so.size() == 1 ? std::optional(begin_so.front()) : std::nullopt;
}

std::optional<std::vector<Commit>> LiteralGraph::range(const CommitSha& good,
                                                       const CommitSha& bad) const {
  std::vector<Commit> commits;
  for (const auto* at = entry(bad); at != nullptr;) {
    if (at->commit.sha == good) {
      std::reverse(commits.begin(), commits.end());
      return commits;
    }
    commits.push_back(at->commit);
    at = at->commit.parents.empty() ? nullptr : entry(at->commit.parents.front());
  }
  return std::nullopt;
}

std::vector<ChangedPath> LiteralGraph::changed_paths(const CommitSha& from,
                                                     const CommitSha& to) const {
  const auto* before = entry(from);
  const auto* after = entry(to);
  if (!before || !after) throw std::runtime_error("no commit " + (before ? to : from).str());
  std::map<std::string, ChangedPath::Kind> kinds;
  for (const auto& [path, content] : before->files) {
    const auto now = after->files.find(path);
    if (now == after->files.end()) {
      kinds[path] = ChangedPath::Kind::deleted;
    } else if (now->second != content) {
      kinds[path] = ChangedPath::Kind::modified;
    }
  }
  for (const auto& [path, content] : after->files) {
    if (!before->files.contains(path)) kinds[path] = ChangedPath::Kind::added;
  }
  std::vector<ChangedPath> paths;
  for (const auto& [path, kind] : kinds) paths.push_back({kind, path});
  return paths;
}

const LiteralGraph::Files& LiteralGraph::files_of(const CommitSha& tree) const {
  if (const auto folder = files_of_folder_.find(tree); folder != files_of_folder_.end())
    return folder->second;
  for (const auto& [files, name] : trees_)
    if (name == tree) return files;
  throw std::runtime_error("no tree " + tree.str());
}

std::vector<TreeEntry> LiteralGraph::entries(const CommitSha& tree) const {
  std::map<std::string, Files> folders;
  std::vector<TreeEntry> entries;
  for (const auto& [path, content] : files_of(tree)) {
    const auto slash = path.find('/');
    if (slash != std::string::npos) {
      folders[path.substr(0, slash)][path.substr(slash + 1)] = content;
      continue;
    }
    const auto name = contents_.try_emplace(content, numbered('b', contents_.size() + 1));
    entries.push_back({0100644, path, name.first->second});
  }
  for (const auto& [name, files] : folders) {
    const auto made = folders_.try_emplace(files, numbered('d', folders_.size() + 1));
    files_of_folder_.try_emplace(made.first->second, files);
    entries.push_back({040000, name, made.first->second});
  }
  std::sort(entries.begin(), entries.end(),
            [](const TreeEntry& a, const TreeEntry& b) { return a.name < b.name; });
  return entries;
}

std::optional<std::string> LiteralGraph::file(const CommitSha& commit,
                                              std::string_view path) const {
  const auto* found = entry(commit);
  if (!found) return std::nullopt;
  const auto content = found->files.find(std::string(path));
  if (content == found->files.end()) return std::nullopt;
  return content->second;
}

}  // namespace nightjar::git
