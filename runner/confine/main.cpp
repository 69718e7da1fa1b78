// nightjar-confine OPTIONS -- COMMAND: runs one command in namespaces of its own. Three processes:
// this one waits outside; its child is the first process inside, whose end ends all others there;
// the command is the child of that first process.
#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/securebits.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/confine/failure.hpp"
#include "runner/confine/filter.hpp"
#include "runner/confine/new_root.hpp"
#include "storage/base/fd.hpp"

namespace {
using namespace nightjar::confine;
using nightjar::Fd;

constexpr int exit_failed =
    125;  // only of this program; runner/process/confinement.cpp knows it, too

struct Pipe {
  Fd read, write;  // a command inherits neither
};

Pipe make_pipe() {
  int ends[2];
  require(::pipe2(ends, O_CLOEXEC), "make a pipe");
  return {Fd(ends[0]), Fd(ends[1])};
}

// The command's descriptors, so that who reads them sees it close them.
void close_below(int descriptor) {
  ::close_range(0, static_cast<unsigned>(descriptor - 1), 0);
}

void write_line(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) throw std::runtime_error(std::string("cannot write ") + path);
}

// The same user and group inside as outside, so that files keep their owners.
void part_namespaces() {
  const auto user = std::to_string(::geteuid()), group = std::to_string(::getegid());
  require(::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                    CLONE_NEWUTS),
          "make namespaces");
  write_line("/proc/self/setgroups", "deny");
  write_line("/proc/self/uid_map", user + " " + user + " 1");
  write_line("/proc/self/gid_map", group + " " + group + " 1");
}

void raise_loopback() {
  const Fd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP;
  require(::ioctl(any.get(), SIOCSIFFLAGS, &request), "raise the loopback interface");
}

// Bytes. More than any file that is made here.
constexpr rlim_t largest_file = 4ULL << 30;

// For good, also for the superuser: root has no more rights than a file's owner from here on.
void drop_rights(const Plan& plan) {
  for (int right = 0; right <= 63; ++right)
    if (::prctl(PR_CAPBSET_DROP, right, 0, 0, 0) != 0) break;  // after the last one that there is
  require(::prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0),
          "give up the superuser's rights");
  const rlimit threads{plan.threads, plan.threads};
  require(::setrlimit(RLIMIT_NPROC, &threads), "limit the number of threads");
  const rlimit file{largest_file, largest_file};
  require(::setrlimit(RLIMIT_FSIZE, &file), "limit the size of a file");
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2]{};
  require(::syscall(SYS_capset, &header, none), "give up all rights");
  require(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "forbid new rights");
}

// Keys of whoever started the runner stay with them. A kernel without keys has none to share.
void leave_keys() {
  const auto left = ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
  if (left == -1 && errno != ENOSYS) require(-1, "leave the session's keys");
}

[[noreturn]] void become_command(const Plan& plan, mode_t mask) {
  ::umask(mask);
  require(::chdir(plan.folder.c_str()), "enter the folder " + plan.folder.string());
  ::clearenv();
  for (const auto& variable : plan.variables) ::putenv(const_cast<char*>(variable.c_str()));
  std::vector<char*> words;
  for (const auto& word : plan.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words.front(), words.data());
  require(-1, "start " + plan.command.front());
  ::_exit(exit_failed);
}

// Waits for the command and reaps whoever else ends meanwhile. `failed` has a byte if it could not
// be started. A command's own exit code 125 becomes 124, or it could pass for our failure.
int status_of(pid_t command, const Fd& failed) {
  int status = 0;
  for (pid_t ended; (ended = ::wait(&status)) != command;)
    if (ended < 0 && errno != EINTR) return exit_failed << 8;
  char byte = 0;
  const bool started = ::read(failed.get(), &byte, 1) == 0;
  return started && status == exit_failed << 8 ? (exit_failed - 1) << 8 : status;
}

// Is the first process inside. It runs the command and reports on `status` how it ended.
void run_inside(const Plan& plan, const Fd& status) {
  require(::prctl(PR_SET_PDEATHSIG, SIGKILL), "end with the process outside");
  pollfd reader{status.get(), 0, 0};
  if (::poll(&reader, 1, 0) > 0) return;  // it has ended already
  const mode_t mask = ::umask(022);
  raise_loopback();
  enter_new_root(plan);
  leave_keys();
  drop_rights(plan);
  filter_system_calls();
  require(::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "keep this process to itself");
  Pipe failed = make_pipe();
  const pid_t command = ::fork();
  require(command, "make a process");
  if (command == 0) try {
      become_command(plan, mask);
    } catch (const std::exception&) {
      static_cast<void>(!::write(failed.write.get(), "", 1));
      throw;
    }
  failed.write.reset();
  close_below(std::min(status.get(), failed.read.get()));
  const int ended = status_of(command, failed.read);
  static_cast<void>(!::write(status.get(), &ended, sizeof ended));
}

// Ends as the command did.
[[noreturn]] void end_as(int status) {
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(WTERMSIG(status), SIG_DFL);
  ::raise(WTERMSIG(status));
  ::_exit(exit_failed);
}

int run(const Plan& plan) {
  part_namespaces();
  require(::prctl(PR_SET_PDEATHSIG, SIGKILL), "end with the runner");
  Pipe status = make_pipe();
  const pid_t first = ::fork();
  require(first, "make a process");
  if (first == 0) {
    status.read.reset();
    run_inside(plan, status.write);
    ::_exit(0);
  }
  status.write.reset();
  close_below(status.read.get());
  int of_command = SIGKILL;
  const auto got = ::read(status.read.get(), &of_command, sizeof of_command);
  int ended = 0;
  ::waitpid(first, &ended, 0);
  end_as(got == sizeof of_command ? of_command : ended);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nightjar-confine: %s\n", error.what());
    std::fflush(stderr);
    ::_exit(exit_failed);
  }
}
