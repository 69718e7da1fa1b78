#include "bisect/git/git_process.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <regex>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/base/child.hpp"

namespace nightjar::git {
namespace {
using std::chrono::steady_clock;
constexpr int kLookMilliseconds = 50;

std::vector<std::string> environment(const NetworkLimits& limits) {
  // http has no other limit on its silence once git itself is killed with the daemon.
  const auto stall = std::chrono::duration_cast<std::chrono::seconds>(limits.stall).count() + 1;
  std::vector<std::string> all{
      "LC_ALL=C",
      "GIT_TERMINAL_PROMPT=0",
      "GIT_CONFIG_NOSYSTEM=1",
      "GIT_CONFIG_GLOBAL=/dev/null",
      "GIT_SSH_COMMAND=ssh -oBatchMode=yes -oConnectTimeout=30 -oServerAliveInterval=30",
      "GIT_HTTP_LOW_SPEED_LIMIT=1",
      "GIT_HTTP_LOW_SPEED_TIME=" + std::to_string(stall)};
  for (const char* name : {"PATH", "HOME", "TMPDIR", "SSH_AUTH_SOCK", "SSL_CERT_FILE",
                           "SSL_CERT_DIR", "GIT_SSL_CAINFO", "http_proxy", "https_proxy",
                           "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"})
    if (const char* value = std::getenv(name)) all.push_back(std::string(name) + "=" + value);
  return all;
}

// The daemon has other children, started by other threads. So it cannot adopt orphans and take them
// for git's, as a runner's guard does; git's helpers stay in its process group.
class GuardedGit {
 public:
  GuardedGit(const NetworkLimits& limits, std::stop_token stop,
             const std::function<void(std::string_view)>& progress)
      : limits_(limits), stop_(std::move(stop)), progress_(progress) {}

  GitOutcome run(std::vector<std::string> command) {
    const int error = start(std::move(command));
    if (error == ENOENT) return {"cannot start git: is it installed?", ""};
    if (error != 0) return {"cannot start git: " + std::string(std::strerror(error)), ""};
    begun_ = heard_ = steady_clock::now();
    while (outcome_.failure.empty() && !step()) {
    }
    ::kill(-child_, SIGKILL);
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    while (take(out_, outcome_.output)) {
    }
    while (take(err_, line_)) say();
    if (outcome_.failure.empty()) outcome_.failure = failure_of(status);
    return std::move(outcome_);
  }

 private:
  // Returns why it could not be started, as errno has it; 0: it was.
  int start(std::vector<std::string> command) {
    const Fd low_nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const Fd nothing(::fcntl(low_nothing.get(), F_DUPFD_CLOEXEC, 10));
    auto out = open_pipe(), err = open_pipe();
    if (!nothing || !out || !err) return errno;
    ChildSpec spec;
    spec.command = std::move(command);
    spec.environment = environment(limits_);
    spec.descriptors = {nothing.get(), out->write.get(), err->write.get()};
    const Child started = start_child(spec);
    child_ = started.pid;
    out_ = std::move(out->read);
    err_ = std::move(err->read);
    return started.error;
  }

  // True when git has ended.
  bool step() {
    pollfd ends[2] = {{out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}};
    ::poll(ends, 2, kLookMilliseconds);
    const auto now = steady_clock::now();
    if (take(out_, outcome_.output)) heard_ = now;
    if (take(err_, line_)) heard_ = now;
    say();
    siginfo_t info{};
    const auto id = static_cast<id_t>(child_);
    if (::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child_)
      return true;
    if (stop_.stop_requested())
      outcome_.failure = "the service is stopping";
    else if (now - heard_ > limits_.stall)
      outcome_.failure = "no progress for " + text(limits_.stall);
    else if (now - begun_ > limits_.total)
      outcome_.failure = "not done after " + text(limits_.total);
    return false;
  }

  static std::string text(std::chrono::milliseconds limit) {
    return std::to_string(std::chrono::ceil<std::chrono::seconds>(limit).count()) + " s";
  }

  // False if there is nothing more to read now.
  static bool take(Fd& end, std::string& to) {
    char buffer[65536];
    const auto got = end ? ::read(end.get(), buffer, sizeof buffer) : 0;
    if (got > 0) to.append(buffer, static_cast<std::size_t>(got));
    if (got == 0) end.reset();  // or poll() would not wait any more
    return got > 0;
  }

  // Complete lines of standard error go to `progress`; the last one is remembered.
  void say() {
    for (auto end = line_.find_first_of("\r\n"); end != std::string::npos;
         end = line_.find_first_of("\r\n")) {
      if (end > 0) {
        const std::string said = line_.substr(0, end);
        if (said.starts_with("fatal: ") && fatal_.empty()) fatal_ = with_cause(said.substr(7));
        last_ = said;
        if (progress_) progress_(said);
      }
      line_.erase(0, end + 1);
    }
  }

  // ssh and servers say why on the line before; progress has a percentage there.
  std::string with_cause(const std::string& fatal) const {
    const bool cause = !last_.empty() && last_.find('%') == std::string::npos;
    return cause ? last_ + "; " + fatal : fatal;
  }

  std::string failure_of(int status) const {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
    if (!fatal_.empty()) return fatal_;
    return last_.empty() ? "git ended with status " + std::to_string(status) : last_;
  }

  const NetworkLimits& limits_;
  const std::stop_token stop_;
  const std::function<void(std::string_view)>& progress_;
  Fd out_, err_;
  pid_t child_ = -1;
  steady_clock::time_point begun_, heard_;
  std::string line_, last_, fatal_;
  GitOutcome outcome_;
};

}  // namespace

GitOutcome run_git(const std::filesystem::path& repository,
                   const std::vector<std::string>& arguments, const NetworkLimits& limits,
                   std::stop_token stop, const std::function<void(std::string_view)>& progress) {
  std::vector<std::string> command{"git", "--git-dir=" + repository.string(), "-c", "gc.auto=0"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return GuardedGit(limits, std::move(stop), progress).run(std::move(command));
}

std::string without_credentials(std::string text) {
  static const std::regex user_info("://[^/@\\s']+@");
  return std::regex_replace(text, user_info, "://");
}

}  // namespace nightjar::git
