#include "runner/process/spawn.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace nightjar::runner {
namespace {

struct Pipe {
  Fd read, write;
};

// Both ends above 9, so that dup2 onto 0..3 cannot hit one of them.
bool open_pipe(Pipe& pipe) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  const Fd low_read(ends[0]), low_write(ends[1]);
  pipe.read = Fd(::fcntl(ends[0], F_DUPFD_CLOEXEC, 10));
  pipe.write = Fd(::fcntl(ends[1], F_DUPFD_CLOEXEC, 10));
  return pipe.read && pipe.write;
}

// Everything exec needs, made before fork: afterwards only async-signal-safe calls are allowed.
struct ExecPlan {
  std::string program;
  std::vector<char*> arguments, environment;
  std::vector<std::string> pairs;
  cpu_set_t cpus;
  bool pinned = false;
};

void prepare(const ProcessSpec& spec, ExecPlan& out) {
  out.program = find_program(spec.command.at(0));
  for (const auto& argument : spec.command)
    out.arguments.push_back(const_cast<char*>(argument.c_str()));
  out.arguments.push_back(nullptr);
  for (const auto& [name, value] : spec.environment) out.pairs.push_back(name + "=" + value);
  for (auto& pair : out.pairs) out.environment.push_back(pair.data());
  out.environment.push_back(nullptr);
  CPU_ZERO(&out.cpus);
  for (const int cpu : spec.cpus) CPU_SET(static_cast<std::size_t>(cpu), &out.cpus);
  out.pinned = !spec.cpus.empty();
}

void write_text(const char* path, const char* text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  const auto ignored = ::write(fd, text, std::strlen(text));
  static_cast<void>(ignored);
  ::close(fd);
}

[[noreturn]] void become(const ProcessSpec& spec, ExecPlan& ready, const int (&fds)[4], int status,
                         pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a killed runner must not leave its workload running
  if (::getppid() != parent) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGCHLD}) ::signal(signal, SIG_DFL);
  for (int i = 0; i < 4; ++i)
    if (::dup2(fds[i], i) < 0) ::_exit(127);
  ::close_range(4, static_cast<unsigned>(status - 1), 0);
  ::close_range(static_cast<unsigned>(status + 1), ~0u, 0);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  write_text("/proc/self/oom_score_adj", "1000");  // the kernel shall take this one, not the runner
  int error = 0;
  if (ready.pinned && ::sched_setaffinity(0, sizeof ready.cpus, &ready.cpus) != 0) error = errno;
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

Spawned spawn(const ProcessSpec& spec) {
  Spawned out;
  Pipe input, output, protocol, status;
  const auto refuse = [&](int error) -> Spawned&& {
    out.pid = -1;
    out.error = "cannot start " + spec.command.at(0) + ": " + std::strerror(error);
    return std::move(out);
  };
  if (!open_pipe(input) || !open_pipe(output) || !open_pipe(protocol) || !open_pipe(status))
    return refuse(errno);
  ExecPlan ready;
  prepare(spec, ready);
  const int fds[4] = {input.read.get(), output.write.get(), output.write.get(),
                      protocol.write.get()};
  const pid_t parent = ::getpid();
  out.pid = ::fork();
  if (out.pid < 0) return refuse(errno);
  if (out.pid == 0) become(spec, ready, fds, status.write.get(), parent);
  status.write.reset();
  int error = 0;
  ssize_t got;
  while ((got = ::read(status.read.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (got > 0) {
    ::waitpid(out.pid, nullptr, 0);
    return refuse(error);
  }
  out.input = std::move(input.write);
  out.output = std::move(output.read);
  out.protocol = std::move(protocol.read);
  for (const Fd* fd : {&out.input, &out.output, &out.protocol})
    ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  return out;
}

}  // namespace nightjar::runner
