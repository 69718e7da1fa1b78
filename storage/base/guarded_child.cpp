#include "storage/base/guarded_child.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/base/child.hpp"
#include "storage/base/foreign_text.hpp"

namespace nightjar {
namespace {
using std::chrono::steady_clock;
constexpr int look_milliseconds = 50;
constexpr std::size_t most_said = 2000;    // bytes of standard error that are kept, whole lines
constexpr std::size_t errors = 64u << 20;  // bytes of standard error until it is killed
constexpr int drains = 16;                 // what a pipe holds at most (1 MiB), in reads

std::string text(std::chrono::milliseconds limit) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(limit).count()) + " s";
}

// What there is to read now; empty at the end, or if there is nothing yet.
std::string_view take(Fd& end, std::array<char, 65536>& buffer) {
  const auto got = end ? ::read(end.get(), buffer.data(), buffer.size()) : 0;
  if (got == 0) end.reset();  // or poll() would not wait any more
  return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

// The daemon has other children, started by other threads. So it cannot adopt orphans and take them
// for this one's, as a runner's guard does; helpers stay in its process group.
class Guard {
 public:
  Guard(const ChildLimits& limits, std::stop_token stop,
        const std::function<void(std::string_view)>& line)
      : limits_(limits), stop_(std::move(stop)), line_(line) {}

  ChildOutcome run(const std::vector<std::string>& command,
                   const std::vector<std::string>& environment) {
    const int error = start(command, environment);
    outcome_.is_missing = error == ENOENT;
    if (error != 0) outcome_.stopped = std::strerror(error);
    if (error != 0) return std::move(outcome_);
    // Its pipes close a moment before it can be waited for. Kernels before 5.3 look again later.
    ended_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, child_, 0)));
    begun_ = heard_ = steady_clock::now();
    while (outcome_.stopped.empty() && !step()) {
    }
    ::kill(-child_, SIGKILL);
    while (::waitpid(child_, &outcome_.status, 0) < 0 && errno == EINTR) {
    }
    drain();
    return std::move(outcome_);
  }

 private:
  // Returns why it could not be started, as errno has it; 0: it was.
  int start(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
    const Fd low_nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const Fd nothing(::fcntl(low_nothing.get(), F_DUPFD_CLOEXEC, 10));
    auto out = open_pipe(), err = open_pipe();
    if (!nothing || !out || !err) return errno;
    ChildSpec spec;
    spec.command = command;
    spec.environment = environment;
    spec.descriptors = {nothing.get(), out->write.get(), err->write.get()};
    const Child started = start_child(spec);
    child_ = started.pid;
    out_ = std::move(out->read);
    err_ = std::move(err->read);
    return started.error;
  }

  // True when it has ended.
  bool step() {
    if (limits_.objection) outcome_.stopped = limits_.objection();
    pollfd ends[3] = {{out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}, {ended_.get(), POLLIN, 0}};
    ::poll(ends, 3, look_milliseconds);
    const auto now = steady_clock::now();
    const bool has_output = read_output(), has_errors = read_errors();
    if (has_output || has_errors) heard_ = now;
    siginfo_t info{};
    const auto id = static_cast<id_t>(child_);
    if (::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child_)
      return true;
    if (stop_.stop_requested())
      outcome_.stopped = "the service is stopping";
    else if (now - heard_ > limits_.stall)
      outcome_.stopped = "no progress for " + text(limits_.stall);
    else if (now - begun_ > limits_.total)
      outcome_.stopped = "not done after " + text(limits_.total);
    return false;
  }

  bool read_output() {
    const std::string_view got = take(out_, buffer_);
    if (outcome_.output.size() + got.size() > limits_.output_bytes)
      outcome_.stopped = "it printed more than " + std::to_string(limits_.output_bytes) + " bytes";
    else
      outcome_.output += got;
    return !got.empty();
  }

  bool read_errors() {
    const std::string_view got = take(err_, buffer_);
    error_bytes_ += got.size();
    if (error_bytes_ > errors)
      outcome_.stopped = "it wrote more than " + std::to_string(errors) + " bytes of messages";
    lines_.take(got, [this](std::string_view line) { hear(line); });
    return !got.empty();
  }

  // What it had written when it ended. A process that left its group may go on writing.
  void drain() {
    for (int i = 0; i < drains && outcome_.stopped.empty() && read_output(); ++i) {
    }
    for (int i = 0; i < drains && read_errors(); ++i) {
    }
    lines_.finish([this](std::string_view line) { hear(line); });
  }

  void hear(std::string_view line) {
    std::string& said = outcome_.said;
    if (said.size() < most_said) said.append(said.empty() ? "" : " ").append(line);
    if (line_) line_(line);
  }

  const ChildLimits& limits_;
  const std::stop_token stop_;
  const std::function<void(std::string_view)>& line_;
  Fd out_, err_;
  Fd ended_;  // readable when the child has ended
  pid_t child_ = -1;
  steady_clock::time_point begun_, heard_;
  std::array<char, 65536> buffer_;
  std::size_t error_bytes_ = 0;
  LineSplitter lines_;
  ChildOutcome outcome_;
};

}  // namespace

std::string ChildOutcome::failure(const std::string& program) const {
  if (is_missing) return "there is no program '" + program + "'";
  return program + ": " + (stopped.empty() ? said : stopped);
}

ChildOutcome run_guarded(const std::vector<std::string>& command,
                         const std::vector<std::string>& environment, const ChildLimits& limits,
                         std::stop_token stop, const std::function<void(std::string_view)>& line) {
  return Guard(limits, std::move(stop), line).run(command, environment);
}

std::vector<std::string> network_environment() {
  std::vector<std::string> all{"LC_ALL=C"};
  for (const char* name : {"PATH", "HOME", "TMPDIR", "SSH_AUTH_SOCK", "SSL_CERT_FILE",
                           "SSL_CERT_DIR", "GIT_SSL_CAINFO", "http_proxy", "https_proxy",
                           "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"})
    if (const char* value = std::getenv(name)) all.push_back(std::string(name) + "=" + value);
  // One variable is enough for git, too.
  const char* authorities = std::getenv("SSL_CERT_FILE");
  if (authorities && !std::getenv("GIT_SSL_CAINFO"))
    all.push_back(std::string("GIT_SSL_CAINFO=") + authorities);
  return all;
}

std::vector<std::string> private_environment(const std::string& home) {
  std::vector<std::string> all{"LC_ALL=C"};
  if (const char* path = std::getenv("PATH")) all.push_back(std::string("PATH=") + path);
  for (const char* name : {"HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_CACHE_HOME",
                           "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_BIN_HOME", "XDG_RUNTIME_DIR"})
    all.push_back(std::string(name) + "=" + home);
  return all;
}

}  // namespace nightjar
