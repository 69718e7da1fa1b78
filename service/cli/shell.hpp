// The user's commands as guarded child processes that see the user's environment.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "runner/process/process.hpp"

namespace nightjar::cli {

// This process's environment without what tells git which repository is meant.
std::map<std::string, std::string> own_environment();

// What was counted of a command, or why it could not be, as the end of a sentence.
struct Count {
  double value = 0;
  std::string problem;
};
struct Ran {
  runner::ProcessResult process;  // its `output` is standard error
  std::string output;             // standard output
  std::optional<Count> counted = {};
};
// Where a command runs, and the variables that it has besides the user's.
struct WorkPlace {
  std::filesystem::path folder;
  std::map<std::string, std::string> variables;
};
// `command` by `sh -c`. Standard output is kept apart; more than 16 MiB of it, or of standard
// error, ends the command.
Ran run_command(const std::string& command, const WorkPlace& place, double timeout_seconds,
                std::stop_token stop);

// `text` as one word of a shell. What names of folders usually consist of needs no quotes.
std::string quoted_for_shell(const std::string& text);

}  // namespace nightjar::cli
