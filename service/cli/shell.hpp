// The user's commands as guarded child processes that see the user's environment.
#pragma once

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>

#include "runner/process/process.hpp"

namespace nightjar::cli {

// This process's environment without what tells git which repository is meant.
std::map<std::string, std::string> own_environment();

struct Ran {
  runner::ProcessResult process;  // its `output` is standard error
  std::string output;             // standard output
};
// `command` by `sh -c` in `folder` with NIGHTJAR_COMMIT set. Standard output is kept apart; more
// than 16 MiB of it, or of standard error, ends the command.
Ran run_command(const std::string& command, const std::filesystem::path& folder,
                const std::string& commit, double timeout_seconds, std::stop_token stop);

}  // namespace nightjar::cli
