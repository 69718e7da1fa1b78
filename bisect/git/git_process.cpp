#include "bisect/git/git_process.hpp"

#include <sys/wait.h>

#include "storage/base/foreign_text.hpp"
#include "storage/base/redaction.hpp"

namespace nightjar::git {
namespace {

constexpr std::string_view kFatal = "fatal: ";
constexpr std::string_view kRedirect = "returned error: 30";  // and a digit
constexpr std::size_t kSentence = 200;                        // characters that are kept of a line

std::vector<std::string> environment(const NetworkLimits& limits) {
  // http has no other limit on its silence once git itself is killed with the daemon.
  const auto stall = std::chrono::duration_cast<std::chrono::seconds>(limits.stall).count() + 1;
  std::vector<std::string> all = network_environment();
  all.insert(all.end(),
             {"GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
              "GIT_SSH_COMMAND=ssh -oBatchMode=yes -oConnectTimeout=30 -oServerAliveInterval=30",
              "GIT_HTTP_LOW_SPEED_LIMIT=1", "GIT_HTTP_LOW_SPEED_TIME=" + std::to_string(stall)});
  return all;
}

}  // namespace

void GitWords::hear(std::string_view line) {
  if (line.starts_with(kFatal) && fatal_.empty()) {
    fatal_ = with_cause(line.substr(kFatal.size()));
    if (line.find(kRedirect) != line.npos)
      fatal_ += "; redirects are not followed, name the address that this one leads to";
  }
  last_ = line;
}

std::string GitWords::failure_of(const ChildOutcome& ended) const {
  if (ended.is_missing) return "cannot start git: is it installed?";
  if (!ended.stopped.empty()) return ended.stopped;
  if (WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0) return "";
  if (!fatal_.empty()) return fatal_;
  return last_.empty() ? "git ended with status " + std::to_string(ended.status)
                       : shortened(last_, kSentence);
}

// ssh and servers say why on the line before; progress has a percentage there.
std::string GitWords::with_cause(std::string_view fatal) const {
  const bool cause = !last_.empty() && last_.find('%') == std::string::npos;
  return (cause ? shortened(last_, kSentence) + "; " : "") + shortened(fatal, kSentence);
}

GitOutcome run_git(const std::filesystem::path& repository,
                   const std::vector<std::string>& arguments, const std::vector<std::string>& login,
                   const NetworkLimits& limits, std::stop_token stop,
                   const std::function<void(std::string_view)>& progress) {
  // A redirect could lead to any host that this machine reaches.
  std::vector<std::string> command{"git", "--git-dir=" + repository.string(), "-c", "gc.auto=0",
                                   "-c",  "http.followRedirects=false"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment(limits);
  variables.insert(variables.end(), login.begin(), login.end());
  GitWords words;
  ChildOutcome ended =
      run_guarded(command, variables, limits, std::move(stop), [&](std::string_view line) {
        const std::string shown = without_credentials(line);
        words.hear(shown);
        if (progress) progress(shown);
      });
  return {words.failure_of(ended), std::move(ended.output)};
}

}  // namespace nightjar::git
