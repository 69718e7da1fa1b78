#include "bisect/git/git_process.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <regex>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nightjar::git {
namespace {
using std::chrono::steady_clock;
constexpr int kLookMilliseconds = 50;

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    read = ends[0];
    write = ends[1];
    ::fcntl(read, F_SETFL, O_NONBLOCK);
  }
  ~Pipe() {
    close(read);
    close(write);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  static void close(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

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

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The daemon has other children, started by other threads. So it cannot adopt orphans and take them
// for git's, as a runner's guard does; git's helpers stay in its process group.
class GuardedGit {
 public:
  GuardedGit(const NetworkLimits& limits, std::stop_token stop,
             const std::function<void(std::string_view)>& progress)
      : limits_(limits), stop_(std::move(stop)), progress_(progress) {}

  GitOutcome run(std::vector<std::string> command) {
    start(std::move(command));
    if (child_ < 0) return {"cannot start git: " + std::string(std::strerror(errno)), ""};
    begun_ = heard_ = steady_clock::now();
    while (outcome_.failure.empty() && !step()) {
    }
    ::kill(-child_, SIGKILL);
    ::kill(child_, SIGKILL);  // if it has no group of its own yet
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    while (take(out_.read, outcome_.output)) {
    }
    while (take(err_.read, line_)) say();
    if (outcome_.failure.empty()) outcome_.failure = failure_of(status);
    return std::move(outcome_);
  }

 private:
  void start(std::vector<std::string> command) {
    std::vector<std::string> variables = environment(limits_);
    const auto arguments = pointers_to(command), inherited = pointers_to(variables);
    const pid_t parent = ::getpid();
    child_ = ::fork();
    if (child_ != 0) {
      Pipe::close(out_.write);
      Pipe::close(err_.write);
      return;
    }
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const int nothing = ::open("/dev/null", O_RDWR);
    if (::getppid() == parent && ::dup2(nothing, 0) >= 0 && ::dup2(out_.write, 1) >= 0 &&
        ::dup2(err_.write, 2) >= 0 && ::close_range(3, ~0u, 0) == 0)
      ::execvpe("git", arguments.data(), inherited.data());
    ::_exit(127);
  }

  // True when git has ended.
  bool step() {
    pollfd ends[2] = {{out_.read, POLLIN, 0}, {err_.read, POLLIN, 0}};
    ::poll(ends, 2, kLookMilliseconds);
    const auto now = steady_clock::now();
    if (take(out_.read, outcome_.output)) heard_ = now;
    if (take(err_.read, line_)) heard_ = now;
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
  static bool take(int& end, std::string& to) {
    char buffer[65536];
    const auto got = end < 0 ? 0 : ::read(end, buffer, sizeof buffer);
    if (got > 0) to.append(buffer, static_cast<std::size_t>(got));
    if (got == 0) Pipe::close(end);  // or poll() would not wait any more
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
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
      return "cannot start git: is it installed?";
    return last_.empty() ? "git ended with status " + std::to_string(status) : last_;
  }

  const NetworkLimits& limits_;
  const std::stop_token stop_;
  const std::function<void(std::string_view)>& progress_;
  Pipe out_, err_;
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
