#include "runner/make/work_tree.hpp"

#include <cstdlib>
#include <dirent.h>
#include <signal.h>
#include <system_error>
#include <unistd.h>

#include "runner/process/failure.hpp"
#include "storage/base/files.hpp"
#include "storage/base/git_process.hpp"

namespace nightjar::runner {
namespace fs = std::filesystem;
namespace {
constexpr double git_seconds = 4 * 3600;  // PyTorch with its submodules over a slow line

// Every process whose environment says that it works in `tree`. Children keep their environment
// when whoever started them is killed, so this finds a build that outlived its builder.
std::vector<pid_t> working_in(const fs::path& tree) {
  const std::string end(1, '\0');
  const std::string mark = end + WorkTree::mark_file + "=" + tree.string() + end;
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0 || pid == ::getpid()) continue;
    const auto environment = read_file(entry.path() / "environ");
    if (environment && (end + *environment).find(mark) != std::string::npos) found.push_back(pid);
  }
  return found;
}

void remove_locks(const fs::path& git_folder) {
  std::error_code error;
  std::vector<fs::path> locks;
  for (auto at = fs::recursive_directory_iterator(git_folder, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at->is_directory() && at->path().filename() == "objects") at.disable_recursion_pending();
    if (at->path().extension() == ".lock") locks.push_back(at->path());
  }
  for (const auto& lock : locks) fs::remove(lock, error);
}

}  // namespace

WorkTree::WorkTree(fs::path folder, std::string repository,
                   std::function<void(const std::string&)> say)
    : folder_(std::move(folder)),
      tree_(folder_ / "tree"),
      repository_(std::move(repository)),
      say_(std::move(say)) {
  fs::create_directories(folder_);
}

ProcessResult WorkTree::git(std::vector<std::string> arguments, std::stop_token stop) const {
  ProcessSpec spec;
  // The repository was named by a person: where it is a folder, its submodules may be folders too.
  const bool local = fs::exists(repository_);
  spec.command = {"git"};
  for (const auto& part : {git::git_options(),
                           {"-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=120", "-c",
                            local ? "protocol.file.allow=always" : "protocol.file.allow=user"},
                           arguments})
    spec.command.insert(spec.command.end(), part.begin(), part.end());
  spec.environment = clean_environment(folder_);
  spec.environment["GIT_TERMINAL_PROMPT"] = "0";
  spec.environment[mark_file] = tree_.string();
  spec.folder = folder_;
  spec.timeout_seconds = git_seconds;
  spec.output_bytes = 64 << 20;
  ProcessResult result = run_trusted(spec, stop);
  if (stop.stop_requested()) throw Stopped();
  return result;
}

void WorkTree::require(const std::string& attempt, std::vector<std::string> arguments,
                       std::stop_token stop) const {
  const ProcessResult result = git(std::move(arguments), std::move(stop));
  if (!result.fine()) throw TransientFailure("cannot " + attempt + ": git " + result.describe());
}

void WorkTree::repair() {
  for (int pass = 0; pass < 500; ++pass) {
    const auto left = working_in(tree_);
    if (left.empty()) break;
    if (pass == 0) say_("ending " + std::to_string(left.size()) + " processes of a killed builder");
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    ::usleep(10'000);
  }
  std::error_code ignored;
  fs::remove_all(folder_ / "tree.part", ignored);
  remove_locks(tree_ / ".git");
}

void WorkTree::clone(std::stop_token stop) {
  say_("cloning " + repository_);
  const fs::path part = folder_ / "tree.part";
  fs::remove_all(part);
  require("clone " + repository_,
          {"clone", "--quiet", "--no-checkout", "--no-tags", "--single-branch", repository_,
           part.string()},
          stop);
  fs::rename(part, tree_);
}

bool WorkTree::holds(const std::string& revision, std::stop_token stop) {
  return git({"-C", tree_.string(), "cat-file", "-e", revision + "^{commit}"}, std::move(stop))
      .fine();
}

// PyTorch's repository has ten thousand branches, so only what is wanted is asked for, and all of
// them only where that did not help.
void WorkTree::bring(const std::string& revision, bool exact, std::stop_token stop) {
  const std::string wanted =
      exact ? revision : "+refs/heads/" + revision + ":refs/remotes/origin/" + revision;
  const std::vector<std::string> fetch{"-C",       tree_.string(), "fetch",
                                       "--quiet",  "--no-tags",    "--no-recurse-submodules",
                                       repository_};
  const auto with = [&](const std::string& what) {
    std::vector<std::string> arguments = fetch;
    arguments.push_back(what);
    return arguments;
  };
  say_("fetching from " + repository_);
  if (git(with(wanted), stop).fine()) return;
  require("fetch from " + repository_, with("+refs/heads/*:refs/remotes/origin/*"), stop);
}

CommitSha WorkTree::resolve(const std::string& revision, std::stop_token stop) {
  if (revision.empty() || revision.starts_with('-'))
    throw WrongUse("'" + revision + "' names no commit");
  if (!fs::exists(tree_ / ".git")) clone(stop);
  // What is no full hash may mean something else since the last fetch.
  const bool exact = CommitSha::parse(revision).has_value();
  if (!exact || !holds(revision, stop)) bring(revision, exact, stop);
  for (const std::string& name : {"origin/" + revision, revision}) {
    const auto parsed = git({"-C", tree_.string(), "rev-parse", "--verify", "--quiet",
                             "--end-of-options", name + "^{commit}"},
                            stop);
    const auto sha = CommitSha::parse(parsed.output.substr(0, parsed.output.find('\n')));
    if (parsed.fine() && sha) return *sha;
  }
  throw WrongUse("there is no commit '" + revision + "' in " + repository_);
}

std::int64_t WorkTree::committed_at(const CommitSha& commit, std::stop_token stop) const {
  const auto shown =
      git({"-C", tree_.string(), "show", "-s", "--format=%ct", commit.str()}, std::move(stop));
  return shown.fine() ? std::atoll(shown.output.c_str()) : 0;
}

void WorkTree::check_out(const CommitSha& commit, const std::stop_token& stop) {
  const std::vector<std::string> arguments{"-C",      tree_.string(), "checkout",  "--quiet",
                                           "--force", "--detach",     commit.str()};
  const ProcessResult result = git(arguments, stop);
  if (result.fine()) return;
  // Nothing but damage keeps git from checking out a commit that it has.
  say_("cannot check out " + commit.brief() + ": git " + result.describe() + "; cloning it again");
  fs::remove_all(tree_);
  resolve(commit.str(), stop);
  require("check out " + commit.brief(), arguments, stop);
}

void WorkTree::update_submodules(bool interrupted, const std::stop_token& stop) {
  say_("updating submodules");
  const std::string tree = tree_.string();
  const std::vector<std::string> sync{"-C", tree, "submodule", "--quiet", "sync", "--recursive"};
  const std::vector<std::string> update{"-C",     tree,      "submodule",   "--quiet", "update",
                                        "--init", "--force", "--recursive", "--jobs",  "4"};
  const bool first = git(sync, stop).fine() && git(update, stop).fine();
  if (!first && interrupted) {  // a submodule that was cloned in part stays broken
    fs::remove_all(tree_ / ".git/modules");
    require("clean submodules", {"-C", tree, "submodule", "--quiet", "deinit", "--force", "--all"},
            stop);
  }
  if (!first) {
    require("update submodules", sync, stop);
    require("update submodules", update, stop);
  }
  require("clean submodules",
          {"-C", tree, "submodule", "--quiet", "foreach", "--recursive",
           "git reset --quiet --hard && git clean --quiet -ffdx"},
          stop);
}

void WorkTree::move_to(const CommitSha& commit, bool submodules,
                       const std::vector<std::string>& keep, bool interrupted,
                       std::stop_token stop) {
  check_out(commit, stop);
  if (submodules) update_submodules(interrupted, stop);
  std::vector<std::string> clean{"-C", tree_.string(), "clean", "--quiet", "-ffdx"};
  for (const auto& folder : keep) clean.insert(clean.end(), {"-e", "/" + folder});
  require("clean the work tree", clean, stop);
}

}  // namespace nightjar::runner
