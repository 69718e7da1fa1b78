#include "service/cli/checkout.hpp"

#include <iterator>
#include <sstream>

#include "service/cli/failure.hpp"

namespace nightjar::cli {
namespace fs = std::filesystem;

SourceRepository::SourceRepository(fs::path folder, std::stop_token stop)
    : folder_(std::move(folder)), stop_(std::move(stop)) {
  std::error_code error;
  if (!fs::is_directory(folder_, error))
    throw BadInput("cannot search " + folder_.string() +
                   ": no such folder; --repo names a git repository");
  folder_ = fs::canonical(folder_);
  const auto own = ask({"rev-parse", "--absolute-git-dir"});
  if (!own.failure.empty())
    throw BadInput("cannot search " + folder_.string() + ": " + words_of(own));
  folders_.own = without_line_end(own.output);
  folders_.common = fs::canonical(folder_ / answer({"rev-parse", "--git-common-dir"}));
  const auto top = ask({"rev-parse", "--show-toplevel"});
  // A bare repository has no work tree.
  folders_.base = top.failure.empty() ? fs::path(without_line_end(top.output)) : folders_.own;
}

git::GitOutcome SourceRepository::ask(std::vector<std::string> arguments) const {
  return ask_git(place_of(folder_), std::move(arguments), Reach::reads, stop_);
}

std::string SourceRepository::answer(std::vector<std::string> arguments) const {
  const std::string command = arguments.front();
  const auto outcome = ask(std::move(arguments));
  if (!outcome.failure.empty())
    throw Broken("cannot ask git " + command + " in " + folder_.string() + ": " +
                 words_of(outcome));
  return without_line_end(outcome.output);
}

std::vector<std::string> SourceRepository::words_in_answer(
    std::vector<std::string> arguments) const {
  std::istringstream words(answer(std::move(arguments)));
  return {std::istream_iterator<std::string>(words), {}};
}

bool SourceRepository::is_shallow() const {
  return fs::exists(folders_.common / "shallow");
}

std::string SourceRepository::commit_of(const std::string& revision,
                                        const std::string& role) const {
  const std::string attempt =
      "cannot find the " + role + " '" + revision + "' in " + folder_.string() + ": no such commit";
  if (revision.starts_with("-")) throw BadInput(attempt);
  const auto found = ask({"rev-parse", "--verify", revision + "^{commit}"});
  if (found.failure.empty()) return without_line_end(found.output);
  // All that git says of most names that it does not know.
  const bool plain = found.said == "fatal: Needed a single revision";
  throw BadInput(
      attempt + (plain ? "" : "; " + words_of(found)) +
      (is_shallow() ? "; the clone is shallow, git fetch --unshallow brings the rest" : ""));
}

bool SourceRepository::is_ancestor(const std::string& older, const std::string& newer) const {
  const auto outcome = ask({"merge-base", "--is-ancestor", older, newer});
  if (outcome.exit_code != 0 && outcome.exit_code != 1)
    throw Broken("cannot compare " + older.substr(0, 12) + " with " + newer.substr(0, 12) + ": " +
                 words_of(outcome));
  return outcome.exit_code == 0;
}

// Why there is no first-parent history from `good` to `bad`.
void SourceRepository::refuse_ends(const std::string& good, const std::string& bad,
                                   const std::string& attempt) const {
  if (is_ancestor(good, bad))
    throw BadInput(
        attempt +
        "the good end is not on the bad end's first-parent history; give the merge before it");
  if (is_ancestor(bad, good))
    throw BadInput(attempt + "the good end comes after the bad one; are --good and --bad swapped?");
  if (is_shallow())
    throw BadInput(
        attempt +
        "the clone is shallow and lacks the history between them; run git fetch --unshallow");
  const auto base = ask({"merge-base", good, bad});
  if (!base.failure.empty()) throw BadInput(attempt + "they have no commit in common");
  throw BadInput(attempt + "the good end is no ancestor of the bad one; take " +
                 base.output.substr(0, 12) + ", where the branches part");
}

std::vector<std::string> SourceRepository::range(const std::string& good, const std::string& bad,
                                                 const std::vector<std::string>& paths) const {
  const std::string attempt =
      "cannot search from " + good.substr(0, 12) + " to " + bad.substr(0, 12) + ": ";
  if (good == bad) throw BadInput(attempt + "both ends are the same commit");
  const auto listed = [&](const std::vector<std::string>& limits) {
    std::vector<std::string> ask{"rev-list", "--first-parent", "--reverse", good + ".." + bad,
                                 "--"};
    ask.insert(ask.end(), limits.begin(), limits.end());
    return words_in_answer(std::move(ask));
  };
  auto commits = listed({});
  const auto before = commits.empty() ? commits : parents(commits.front());
  if (before.empty() || before.front() != good) refuse_ends(good, bad, attempt);
  if (paths.empty()) return commits;
  auto touching = listed(paths);
  if (touching.empty()) throw BadInput(attempt + "no commit in between changed a --path");
  if (touching.back() != bad) touching.push_back(bad);  // it stays the end that is measured
  return touching;
}

CommitFacts SourceRepository::facts(const std::string& commit) const {
  std::istringstream lines(answer({"log", "-1", "--no-show-signature", "--no-color",
                                   "--encoding=UTF-8", "--format=%P%n%as%n%an%n%s", commit}));
  CommitFacts facts;
  std::string parents;
  std::getline(lines, parents);
  facts.is_merge = parents.find(' ') != std::string::npos;
  std::getline(lines, facts.date);
  std::getline(lines, facts.author);
  std::getline(lines, facts.subject);
  return facts;
}

std::vector<std::string> SourceRepository::parents(const std::string& commit) const {
  auto ids = words_in_answer({"rev-list", "--parents", "--max-count=1", commit, "--"});
  ids.erase(ids.begin());  // the commit itself
  return ids;
}

MergedBranch SourceRepository::branch(const std::string& tip,
                                      const std::vector<std::string>& known) const {
  std::vector<std::string> ask{"rev-list", "--first-parent", tip};
  for (const std::string& one : known) ask.push_back("^" + one);
  ask.emplace_back("--");
  const auto commits = words_in_answer(std::move(ask));
  MergedBranch branch{tip, "", commits.size()};
  if (commits.empty()) return branch;
  const auto before = parents(commits.back());
  if (!before.empty()) branch.point = before.front();
  return branch;
}

}  // namespace nightjar::cli
