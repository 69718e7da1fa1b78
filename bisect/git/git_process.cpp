#include "bisect/git/git_process.hpp"

#include <sys/wait.h>

#include "storage/base/pattern.hpp"

namespace nightjar::git {
namespace {

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

// What git says on standard error: progress, and at the end why it failed.
class Words {
 public:
  void hear(std::string_view said) {
    if (said.starts_with("fatal: ") && fatal_.empty())
      fatal_ = with_cause(std::string(said.substr(7)));
    last_ = said;
  }

  std::string failure_of(const ChildOutcome& ended) const {
    if (ended.is_missing) return "cannot start git: is it installed?";
    if (!ended.stopped.empty()) return ended.stopped;
    if (WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0) return "";
    if (!fatal_.empty()) return fatal_;
    return last_.empty() ? "git ended with status " + std::to_string(ended.status) : last_;
  }

 private:
  // ssh and servers say why on the line before; progress has a percentage there.
  std::string with_cause(const std::string& fatal) const {
    const bool cause = !last_.empty() && last_.find('%') == std::string::npos;
    return cause ? last_ + "; " + fatal : fatal;
  }

  std::string last_, fatal_;
};

}  // namespace

GitOutcome run_git(const std::filesystem::path& repository,
                   const std::vector<std::string>& arguments, const std::vector<std::string>& login,
                   const NetworkLimits& limits, std::stop_token stop,
                   const std::function<void(std::string_view)>& progress) {
  std::vector<std::string> command{"git", "--git-dir=" + repository.string(), "-c", "gc.auto=0"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment(limits);
  variables.insert(variables.end(), login.begin(), login.end());
  Words words;
  ChildOutcome ended =
      run_guarded(command, variables, limits, std::move(stop), [&](std::string_view line) {
        words.hear(line);
        if (progress) progress(line);
      });
  return {words.failure_of(ended), std::move(ended.output)};
}

std::string without_credentials(std::string text) {
  static const Pattern user_info("://[^/@\\s']+@");
  return user_info.replace_all(text, "://");
}

}  // namespace nightjar::git
