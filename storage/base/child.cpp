#include "storage/base/child.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nightjar {
namespace {

// Everything exec needs, made before fork: afterwards only async-signal-safe calls are allowed.
struct ExecPlan {
  explicit ExecPlan(const ChildSpec& spec) : program(find_program(spec.command.at(0))) {
    for (const auto& argument : spec.command)
      arguments.push_back(const_cast<char*>(argument.c_str()));
    for (const auto& pair : spec.environment)
      environment.push_back(const_cast<char*>(pair.c_str()));
    arguments.push_back(nullptr);
    environment.push_back(nullptr);
    CPU_ZERO(&cpus);
    for (const int cpu : spec.cpus) CPU_SET(static_cast<std::size_t>(cpu), &cpus);
  }
  std::string program;
  std::vector<char*> arguments, environment;
  cpu_set_t cpus;
};

// False with errno set if it cannot be written.
bool write_text(const char* path, const char* text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = ::write(fd, text, std::strlen(text)) >= 0;
  const int error = errno;
  ::close(fd);
  errno = error;
  return written;
}

// Kernels before 5.9 lack the system call, and musl has no function for it.
void close_descriptors(unsigned first, unsigned last) {
  if (::syscall(SYS_close_range, first, last, 0u) == 0 || errno != ENOSYS) return;
  rlimit open{};
  if (::getrlimit(RLIMIT_NOFILE, &open) != 0) return;
  for (rlim_t fd = first; fd <= last && fd < open.rlim_cur; ++fd) ::close(static_cast<int>(fd));
}

void become_expendable() {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  static_cast<void>(write_text("/proc/self/oom_score_adj", "1000"));
}

[[noreturn]] void become(const ChildSpec& spec, ExecPlan& ready, int status, pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, spec.end_signal);  // a killed parent must not leave its child running
  if (::getppid() != parent) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGCHLD}) ::signal(signal, SIG_DFL);
  const int count = static_cast<int>(spec.descriptors.size());
  for (int i = 0; i < count; ++i)
    if (::dup2(spec.descriptors[static_cast<std::size_t>(i)], i) < 0) ::_exit(127);
  close_descriptors(static_cast<unsigned>(count), static_cast<unsigned>(status - 1));
  close_descriptors(static_cast<unsigned>(status + 1), ~0u);
  if (spec.expendable) become_expendable();
  int error = 0;
  if (!spec.group.empty() && !write_text(spec.group.c_str(), "0")) error = errno;
  if (!spec.cpus.empty() && ::sched_setaffinity(0, sizeof ready.cpus, &ready.cpus) != 0)
    error = errno;
  if (spec.nice != 0 && ::setpriority(PRIO_PROCESS, 0, spec.nice) != 0) error = errno;
  if (!spec.folder.empty() && ::chdir(spec.folder.c_str()) != 0) error = errno;
  if (error == 0) {
    ::execve(ready.program.c_str(), ready.arguments.data(), ready.environment.data());
    error = errno;
  }
  const auto ignored = ::write(status, &error, sizeof error);
  static_cast<void>(ignored);
  ::_exit(127);
}

}  // namespace

// Both ends above 9, so that dup2 onto the first descriptors cannot hit one of them.
std::optional<Pipe> open_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const Fd low_read(ends[0]), low_write(ends[1]);
  Pipe pipe{Fd(::fcntl(ends[0], F_DUPFD_CLOEXEC, 10)), Fd(::fcntl(ends[1], F_DUPFD_CLOEXEC, 10))};
  if (!pipe.read || !pipe.write) return std::nullopt;
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    const std::string candidate = rest.substr(0, colon) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return name;
}

Child start_child(const ChildSpec& spec) {
  auto status = open_pipe();
  if (!status) return {-1, errno};
  ::fcntl(status->read.get(), F_SETFL, 0);  // waits for exec
  ExecPlan ready(spec);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return {-1, errno};
  if (pid == 0) become(spec, ready, status->write.get(), parent);
  status->write.reset();
  int error = 0;
  ssize_t got;
  while ((got = ::read(status->read.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (got <= 0) return {pid, 0};
  ::waitpid(pid, nullptr, 0);
  return {-1, error};
}

}  // namespace nightjar
