#include "service/cli/shell.hpp"

#include <unistd.h>

#include "storage/base/git_process.hpp"

namespace nightjar::cli {

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> environment;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos && !git::is_about_repository(text.substr(0, equals)))
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

Ran run_command(const std::string& command, const std::filesystem::path& folder,
                const std::string& commit, double timeout_seconds, std::stop_token stop) {
  constexpr std::int64_t kMostOutput = 16 << 20;
  runner::ProcessSpec spec;
  // The command's standard output goes to the pipe on descriptor 3, apart from what it says on
  // errors.
  spec.command = {"sh", "-c", "exec sh -c \"$1\" >&3 3>&-", "sh", command};
  spec.environment = own_environment();
  spec.environment["NIGHTJAR_COMMIT"] = commit;
  // Where a build removed its .git, git must not find a repository around the work trees.
  std::string& ceiling = spec.environment["GIT_CEILING_DIRECTORIES"];
  ceiling = folder.parent_path().string() + (ceiling.empty() ? "" : ":" + ceiling);
  spec.folder = folder;
  spec.timeout_seconds = timeout_seconds;
  spec.output_bytes = spec.protocol_bytes = kMostOutput;
  spec.processes = 1 << 16;
  Ran ran{
      runner::run_untrusted(spec, runner::Unconfined("its user gave the command"), std::move(stop)),
      {}};
  ran.output = std::move(ran.process.protocol);
  return ran;
}

}  // namespace nightjar::cli
