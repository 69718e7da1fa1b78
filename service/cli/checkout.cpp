#include "service/cli/checkout.hpp"

#include <fstream>
#include <sstream>

#include "runner/process/process.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/shell.hpp"

namespace nightjar::cli {
namespace fs = std::filesystem;
namespace {

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

runner::ProcessResult run_git(const fs::path& folder, const std::vector<std::string>& arguments,
                              const std::stop_token& stop) {
  runner::ProcessSpec spec;
  spec.command = {"git",
                  "-C",
                  folder.string(),
                  "-c",
                  "protocol.file.allow=always",
                  "-c",
                  "advice.detachedHead=false"};
  spec.command.insert(spec.command.end(), arguments.begin(), arguments.end());
  spec.environment = own_environment();
  spec.environment["GIT_TERMINAL_PROMPT"] = "0";
  spec.environment["GIT_OPTIONAL_LOCKS"] = "0";  // reading does not touch the repository's index
  for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"})
    spec.environment.erase(name);
  spec.timeout_seconds = 3600;
  spec.output_bytes = 64 << 20;
  spec.folder = fs::current_path();  // paths in `arguments` may be relative
  return runner::run_trusted(spec, stop);
}

}  // namespace

SourceRepository::SourceRepository(fs::path folder, std::stop_token stop)
    : folder_(std::move(folder)), stop_(std::move(stop)) {
  std::error_code error;
  if (!fs::is_directory(folder_, error))
    throw BadInput("cannot search " + folder_.string() +
                   ": no such folder; --repo names a git repository");
  folder_ = fs::canonical(folder_);
  std::string output;
  if (!try_git({"rev-parse", "--git-common-dir"}, output)) {
    std::string version;
    if (!try_git({"--version"}, version)) throw Broken("cannot run git: is it installed?");
    throw BadInput("cannot search " + folder_.string() + ": it is no git repository");
  }
  git_folder_ = fs::canonical(folder_ / trimmed(output));
}

bool SourceRepository::try_git(const std::vector<std::string>& arguments,
                               std::string& output) const {
  const auto result = run_git(folder_, arguments, stop_);
  output = result.output;
  return result.fine();
}

std::string SourceRepository::git(const std::vector<std::string>& arguments) const {
  const auto result = run_git(folder_, arguments, stop_);
  if (!result.fine())
    throw Broken("git " + arguments.front() + " in " + folder_.string() + ": " + result.describe());
  return trimmed(result.output);
}

std::string SourceRepository::commit_of(const std::string& revision,
                                        const std::string& role) const {
  std::string output;
  if (revision.starts_with("-") ||
      !try_git({"rev-parse", "--verify", "--quiet", revision + "^{commit}"}, output))
    throw BadInput("cannot find the " + role + " '" + revision + "' in " + folder_.string() +
                   ": no such commit");
  return trimmed(output);
}

bool SourceRepository::is_ancestor(const std::string& older, const std::string& newer) const {
  std::string output;
  return try_git({"merge-base", "--is-ancestor", older, newer}, output);
}

std::vector<std::string> SourceRepository::range(const std::string& good,
                                                 const std::string& bad) const {
  const std::string attempt =
      "cannot search from " + good.substr(0, 12) + " to " + bad.substr(0, 12) + ": ";
  if (good == bad) throw BadInput(attempt + "both ends are the same commit");
  if (!is_ancestor(good, bad)) {
    if (is_ancestor(bad, good))
      throw BadInput(attempt +
                     "the good end comes after the bad one; are --good and --bad swapped?");
    if (fs::exists(git_folder_ / "shallow"))
      throw BadInput(
          attempt +
          "the clone is shallow and lacks the history between them; run git fetch --unshallow");
    std::string base;
    if (!try_git({"merge-base", good, bad}, base))
      throw BadInput(attempt + "they have no commit in common");
    throw BadInput(attempt + "the good end is no ancestor of the bad one; take " +
                   base.substr(0, 12) + ", where the branches part");
  }
  std::istringstream lines(git({"rev-list", "--first-parent", "--reverse", good + ".." + bad}));
  std::vector<std::string> commits;
  for (std::string line; std::getline(lines, line);) commits.push_back(line);
  if (commits.empty() || trimmed(git({"rev-parse", commits.front() + "^"})) != good)
    throw BadInput(
        attempt +
        "the good end is not on the bad end's first-parent history; give the merge before it");
  return commits;
}

CommitFacts SourceRepository::facts(const std::string& commit) const {
  std::istringstream lines(git({"log", "-1", "--format=%as%n%an%n%s", commit}));
  CommitFacts facts;
  std::getline(lines, facts.date);
  std::getline(lines, facts.author);
  std::getline(lines, facts.subject);
  return facts;
}

void SourceRepository::check_out(const std::string& commit, const fs::path& folder) const {
  fs::create_directories(folder);
  const auto step = [&](const std::vector<std::string>& arguments) {
    const auto result = run_git(folder, arguments, stop_);
    if (!result.fine() && !result.stopped)
      throw Broken("cannot check out " + commit.substr(0, 12) + ": git " + arguments.front() +
                   ": " + result.describe());
  };
  step({"init", "--quiet"});
  std::ofstream(folder / ".git/objects/info/alternates")
      << (git_folder_ / "objects").string() << "\n";
  if (fs::exists(git_folder_ / "shallow"))
    fs::copy_file(git_folder_ / "shallow", folder / ".git/shallow");
  std::string origin;
  if (!try_git({"config", "--get", "remote.origin.url"}, origin)) origin = folder_.string();
  step({"remote", "add", "origin", trimmed(origin)});  // relative URLs of submodules start from it
  step({"checkout", "--quiet", "--detach", commit});
  if (fs::exists(folder / ".gitmodules"))
    step({"submodule", "--quiet", "update", "--init", "--recursive"});
}

}  // namespace nightjar::cli
