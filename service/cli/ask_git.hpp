// How `nightjar bisect run` asks git: as its user, on a repository or a work tree of its own.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "storage/base/git_process.hpp"

namespace nightjar::cli {

// Repository that a command is about, as options of git.
std::vector<std::string> place_of(const std::filesystem::path& folder);  // a work tree
// A git folder, whether or not its work tree is still there.
std::vector<std::string> place_of_git_folder(const std::filesystem::path& git_folder);

enum class Reach {
  reads,    // changes nothing: what a partial clone lacks is not fetched into it
  fetches,  // may write to the repository, which is one of ours
};

// Throws runner::Stopped after a stop, and Broken if there is no git.
git::GitOutcome ask_git(std::vector<std::string> place, std::vector<std::string> arguments,
                        Reach reach, const std::stop_token& stop);

// What git said when it failed, for the end of a sentence.
std::string words_of(const git::GitOutcome& failed);

// The text without one line end.
std::string without_line_end(std::string text);

}  // namespace nightjar::cli
