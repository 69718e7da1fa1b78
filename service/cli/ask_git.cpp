#include "service/cli/ask_git.hpp"

#include "runner/process/failure.hpp"
#include "service/cli/failure.hpp"
#include "service/cli/shell.hpp"
#include "storage/base/foreign_text.hpp"

namespace nightjar::cli {
namespace {
constexpr std::chrono::hours longest_call{4};          // a partial clone's files over a slow line
constexpr std::size_t most_answer = 1u << 30;          // bytes: ids of millions of commits
constexpr std::size_t most_words = 600;                // characters that are repeated of git's
constexpr const char* no_protocol = "nothing-at-all";  // no transport has this name
}  // namespace

std::vector<std::string> place_of(const std::filesystem::path& folder) {
  // The user named the repository; where its submodules are folders, they are the user's, too.
  return {"-C", folder.string(), "-c", "protocol.file.allow=always"};
}

std::vector<std::string> place_of_git_folder(const std::filesystem::path& git_folder) {
  return {"--git-dir=" + git_folder.string(), "--work-tree=" + git_folder.string()};
}

git::GitOutcome ask_git(std::vector<std::string> place, std::vector<std::string> arguments,
                        Reach reach, const std::stop_token& stop) {
  git::GitCall call{
      std::move(place), std::move(arguments), {}, {longest_call, longest_call, most_answer}};
  auto environment = own_environment();
  if (reach == Reach::reads) {
    environment["GIT_NO_LAZY_FETCH"] = "1";
    environment["GIT_ALLOW_PROTOCOL"] = no_protocol;  // versions before 2.45 do not know the other
  }
  for (const auto& [name, value] : environment) call.environment.push_back(name + "=" + value);
  git::GitOutcome outcome = git::run_git(call, stop);
  if (stop.stop_requested()) throw runner::Stopped();
  if (!outcome.exit_code && outcome.said.empty()) throw Broken(outcome.failure);
  return outcome;
}

std::string words_of(const git::GitOutcome& failed) {
  return "git said: " + shortened(failed.said.empty() ? failed.failure : failed.said, most_words);
}

std::string without_line_end(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace nightjar::cli
