#include "service/cli/tree_maker.hpp"

#include "service/cli/ask_git.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/index_file.hpp"
#include "storage/base/files.hpp"
#include "storage/base/foreign_text.hpp"

namespace nightjar::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::uintmax_t full_disk = 16 << 20;  // bytes: with less left, the disk is to blame

// In each submodule. `git checkout`, which git calls for submodules, ends well even where it could
// not write files; reading the tree again writes these, or fails.
constexpr const char* whole_submodule =
    "git config core.hooksPath /dev/null && git read-tree --reset -u HEAD && "
    "missing=$(git ls-files --deleted) && if test -n \"$missing\"; then "
    "echo \"files are missing: $missing\" >&2; exit 1; fi";

std::string missing_text(const std::string& path) {
  return path.empty() ? "" : "files are missing, such as " + in_quotes(path);
}

}  // namespace

TreeMaker::TreeMaker(const SourceRepository& repository, fs::path root, std::stop_token stop)
    : repository_(repository), root_(std::move(root)), stop_(std::move(stop)) {}

std::string TreeMaker::make(const std::string& commit, const fs::path& folder) {
  try {
    if (!pattern_) pattern_.emplace(repository_.git_folders(), root_, stop_);
    fs::create_directories(folder);
    pattern_->copy_to(folder / ".git", commit);
  } catch (const fs::filesystem_error& error) {
    throw Broken(std::string("cannot make a work tree: ") + error.what());
  }
  std::string problem = fill(commit, folder);
  if (problem.empty()) return "";
  if (fs::space(root_).available < full_disk)
    throw Broken("cannot make a work tree of " + commit.substr(0, 12) + ": the disk of " +
                 root_.parent_path().string() + " is full; TMPDIR names another place");
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return "git cannot make its work tree; " + problem;
}

std::string TreeMaker::fill(const std::string& commit, const fs::path& folder) {
  auto place = place_of(folder);
  // The index is written as missing_file() reads it.
  for (const char* setting : {"index.version=2", "feature.manyFiles=false", "core.splitIndex=false",
                              "index.sparse=false"})
    place.insert(place.end(), {"-c", setting});
  // Unlike `git checkout` this fails if a single file cannot be written, and runs no hook.
  const auto read = ask_git(place, {"read-tree", "--reset", "-u", commit}, Reach::fetches, stop_);
  if (!read.failure.empty()) return words_of(read);
  const auto index = read_file(folder / ".git/index");
  const auto missing = missing_file(index.value_or(""), folder, commit.size() / 2);
  const std::string problem = missing ? missing_text(*missing) : ask_what_is_missing(place);
  if (!problem.empty()) return problem + (read.said.empty() ? "" : "; " + words_of(read));
  return fs::exists(folder / ".gitmodules") ? fill_submodules(folder) : "";
}

std::string TreeMaker::ask_what_is_missing(const std::vector<std::string>& place) const {
  const auto listed = ask_git(place, {"ls-files", "--deleted"}, Reach::fetches, stop_);
  if (!listed.failure.empty()) return words_of(listed);
  return missing_text(listed.output.substr(0, listed.output.find('\n')));
}

// First with the objects that are here, then with those of the configured addresses, then with
// those of the addresses that the commit itself names.
std::string TreeMaker::fill_submodules(const fs::path& folder) {
  const std::vector<std::string> update{"submodule", "--quiet", "update", "--init", "--recursive"};
  std::vector<std::string> offline = update;
  offline.emplace_back("--no-fetch");
  const std::vector<std::vector<std::string>> ways[] = {
      {offline}, {update}, {{"submodule", "--quiet", "sync", "--recursive"}, update}};
  const auto place = place_of(folder);
  std::string problem;
  for (const auto& way : ways) {
    problem.clear();
    for (const auto& step : way) {
      const auto outcome = ask_git(place, step, Reach::fetches, stop_);
      if (!outcome.failure.empty()) problem = words_of(outcome);
    }
    if (problem.empty()) break;
  }
  if (!problem.empty()) return problem;
  const auto whole =
      ask_git(place, {"submodule", "--quiet", "foreach", "--recursive", whole_submodule},
              Reach::fetches, stop_);
  if (!whole.failure.empty()) return words_of(whole);
  pattern_->borrow_modules(folder / ".git/modules");
  return "";
}

}  // namespace nightjar::cli
