#include "runner/process/process.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <poll.h>
#include <signal.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/process/driver_environment.hpp"
#include "runner/process/memory.hpp"
#include "runner/process/memory_group.hpp"
#include "runner/process/process_tree.hpp"
#include "runner/process/spawn.hpp"
#include "runner/process/wait.hpp"
#include "storage/base/files.hpp"
#include "storage/base/foreign_text.hpp"

// By hand: process libraries start and wait for one process. A run's descendants must be found,
// weighed and ended with it, also those that have left its session.
namespace nightjar::runner {
namespace {
using SteadyClock = std::chrono::steady_clock;
constexpr int poll_milliseconds = 50;
constexpr std::chrono::milliseconds signal_spread(1000);  // between the processes of a job
constexpr std::int64_t disk_floor = 512 << 20;            // bytes that a confined process leaves
constexpr std::int64_t nameless = 4;  // times what a folder may grow, by the disk's free space
constexpr std::size_t kept_of_log = 256 << 10;  // bytes of output that a result keeps beside a log
constexpr std::size_t traceback_bytes =
    64 << 10;  // bytes of output that are searched for an exception

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

// How many processes the kernel's out-of-memory killer has taken since boot.
long long kernel_oom_kills() {
  const auto text = read_file("/proc/vmstat");
  const auto at = text ? text->find("oom_kill ") : std::string::npos;
  return at == std::string::npos ? 0 : std::atoll(text->c_str() + at + 9);
}

// Returns the lower of two limits; 0 is no limit.
std::int64_t least_limit(std::int64_t one, std::int64_t other) {
  return one > 0 && other > 0 ? std::min(one, other) : std::max(one, other);
}

// What the files below a folder take on the disk, each once.
std::int64_t disk_bytes(const std::filesystem::path& folder) {
  constexpr std::int64_t block = 512;
  std::set<ino_t> linked;
  std::int64_t bytes = 0;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    struct stat file {};
    if (::lstat(at->path().c_str(), &file) != 0) continue;
    if (file.st_nlink == 1 || S_ISDIR(file.st_mode) || linked.insert(file.st_ino).second)
      bytes += file.st_blocks * block;
  }
  return bytes;
}

class Guard {
 public:
  // `group`: null if the kernel does not count the process's memory.
  Guard(const ProcessSpec& spec, const Confinement* confinement, const MemoryGroup* group,
        const MemoryBudget& budget, std::stop_token stop)
      : spec_(spec),
        most_bytes_(least_limit(spec.memory_bytes, budget.most)),
        floor_(budget.floor),
        confinement_(confinement),
        group_(group),
        shared_before_(shared_memory()),
        stop_(std::move(stop)),
        known_(own_children()),
        grown_from_(spec.grows.empty() ? 0 : disk_bytes(spec.grows)),
        free_before_(free_bytes(spec.grows)),
        oom_kills_(kernel_oom_kills()) {}

  ProcessResult run() {
    start_ = last_weighed_ = SteadyClock::now();
    if (!spec_.log.empty() && !open_log()) return std::move(result_);
    child_ = spawn(spec_, confinement_, group_);
    result_.timeout_seconds = spec_.timeout_seconds;
    result_.start_error = child_.error;
    if (child_.pid < 0) return std::move(result_);
    const Fd ended(static_cast<int>(::syscall(SYS_pidfd_open, child_.pid, 0)));
    if (spec_.input.empty()) child_.input.reset();
    while (!step(ended.get())) {
    }
    finish();
    return std::move(result_);
  }

 private:
  // Waits for something to happen; true when the process has ended or must.
  bool step(int ended) {
    pollfd fds[4] = {{ended, POLLIN, 0},
                     {child_.output.get(), POLLIN, 0},
                     {child_.protocol.get(), POLLIN, 0},
                     {child_.input.get(), POLLOUT, 0}};
    ::poll(fds, 4, poll_milliseconds);
    if (fds[3].revents != 0) feed();
    take_output();
    take(child_.protocol, result_.protocol, spec_.protocol_bytes, "protocol");
    if (has_ended()) return true;
    if (seconds_since(start_) > spec_.timeout_seconds) result_.timed_out = true;
    if (stop_.stop_requested()) result_.stopped = true;
    if (seconds_since(last_weighed_) * 1000 >= poll_milliseconds) weigh_family();
    return result_.timed_out || result_.stopped || result_.out_of_memory ||
           !result_.flooded.empty();
  }

  // Leaves it to be reaped: until then its id cannot become another process's.
  bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(child_.pid), &info, WEXITED | WNOHANG | WNOWAIT) ==
               0 &&
           info.si_pid == child_.pid;
  }

  void weigh_family() {
    last_weighed_ = SteadyClock::now();
    const Weight weight = weigh(child_.pid, known_, spec_.processes);
    watch_memory(weight.bytes);
    if (seconds_since(last_disk_) >= 1) watch_disk();
    if (weight.processes > spec_.processes) result_.flooded = "processes";
  }

  // `bytes` counts what forked processes share several times, so a look that counts it once has to
  // agree. It holds the processes up, and comes at most each second.
  void watch_memory(std::int64_t bytes) {
    if (floor_ > 0 && available_memory() < floor_) return end_by_memory("all that the machine has");
    if (group_ && group_->overran()) return end_by_memory(too_much());
    // Memory that is no process's: the kernel tells only of all together how much there is.
    const std::int64_t grown = group_ ? 0 : shared_memory() - shared_before_;
    const bool suspicious =
        most_bytes_ > 0 && bytes + std::max<std::int64_t>(grown, 0) > most_bytes_;
    if (!suspicious || seconds_since(last_exact_) < 1) return;
    last_exact_ = SteadyClock::now();
    const ExactWeight exact = exact_weight(child_.pid, known_, spec_.processes);
    if (exact.bytes + std::max<std::int64_t>(grown - exact.shared_memory, 0) > most_bytes_)
      end_by_memory(too_much());
  }

  std::string too_much() const { return "more than " + std::to_string(most_bytes_ >> 20) + " MiB"; }

  // A file whose name was removed is in no folder, but takes its room until it is closed.
  bool writes_nameless() const {
    const auto free = free_bytes(spec_.grows);
    return free && free_before_ && *free_before_ - *free > nameless * spec_.grows_bytes;
  }

  // Only scratch has a size. What else it may write to is the machine's disk.
  void watch_disk() {
    last_disk_ = SteadyClock::now();
    if (!spec_.grows.empty() &&
        (disk_bytes(spec_.grows) - grown_from_ > spec_.grows_bytes || writes_nameless()))
      result_.flooded = "files";
    if (!confinement_) return;
    for (const auto& folder : confinement_->written) {
      const auto free = free_bytes(folder);
      if (free && *free < disk_floor) result_.flooded = "files; the disk is nearly full";
    }
  }

  void end_by_memory(std::string limit) {
    result_.out_of_memory = true;
    result_.memory_limit = std::move(limit);
  }

  void feed() {
    const std::string_view rest = std::string_view(spec_.input).substr(fed_);
    const auto put = ::write(child_.input.get(), rest.data(), rest.size());
    if (put > 0) fed_ += static_cast<std::size_t>(put);
    if (fed_ == spec_.input.size() || (put < 0 && errno != EAGAIN && errno != EINTR))
      child_.input.reset();
  }

  void take(Fd& from, std::string& to, std::int64_t limit, const char* name) {
    char buffer[65536];
    while (from) {
      const auto got = ::read(from.get(), buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) return from.reset();
      to.append(buffer, static_cast<std::size_t>(got));
      if (static_cast<std::int64_t>(to.size()) <= limit) continue;
      to.resize(static_cast<std::size_t>(limit));
      result_.flooded = name;
      return from.reset();
    }
  }

  bool open_log() {
    log_ = Fd(::open(spec_.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!log_)
      result_.start_error =
          "cannot write the log " + spec_.log.string() + ": " + std::strerror(errno);
    return static_cast<bool>(log_);
  }

  // With a log, the limit is of the log, and only the last part stays in memory.
  void take_output() {
    if (!log_) return take(child_.output, result_.output, spec_.output_bytes, "output");
    std::string fresh;
    take(child_.output, fresh, spec_.output_bytes - logged_, "output");
    logged_ += static_cast<std::int64_t>(fresh.size());
    // A full disk shows in what the process does; its log ends early then.
    for (std::size_t at = 0; at < fresh.size();) {
      const auto put = ::write(log_.get(), fresh.data() + at, fresh.size() - at);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) break;
      at += static_cast<std::size_t>(put);
    }
    result_.output += fresh;
    if (result_.output.size() > 2 * kept_of_log)
      result_.output.erase(0, result_.output.size() - kept_of_log);
  }

  void finish() {
    if (group_) group_->kill();
    kill_family(child_.pid, known_);
    if (result_.flooded.empty() && !spec_.grows.empty()) watch_disk();
    int status = 0;
    while (::waitpid(child_.pid, &status, 0) < 0 && errno == EINTR) {
    }
    take_output();
    take(child_.protocol, result_.protocol, spec_.protocol_bytes, "protocol");
    if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
    const bool ours = result_.timed_out || result_.stopped || !result_.flooded.empty();
    result_.oom_kills = kernel_oom_kills() - oom_kills_;
    if (result_.signal == SIGKILL && !ours && result_.oom_kills > 0) result_.out_of_memory = true;
    if (group_ && !ours && group_->overran()) end_by_memory(too_much());
    result_.seconds = seconds_since(start_);
    if (!ours) await_our_signal();
    if (confinement_) note_confinement_failure(result_);
  }

  // A cluster's scheduler ends a job by SIGTERM to all its processes, to this one perhaps a moment
  // later. The program is not to blame then, so callers must see the stop.
  void await_our_signal() {
    constexpr int of_shells = 128 + SIGTERM;  // as a shell answers for its command
    if (result_.signal != SIGTERM && result_.exit_code != of_shells) return;
    if (!wait_for(signal_spread, stop_)) result_.stopped = true;
  }

  const ProcessSpec& spec_;
  const std::int64_t most_bytes_, floor_;
  const Confinement* const confinement_;
  const MemoryGroup* const group_;
  const std::int64_t shared_before_;
  const std::stop_token stop_;
  const std::set<pid_t> known_;
  const std::int64_t grown_from_;
  const std::optional<std::int64_t> free_before_;
  const long long oom_kills_;
  SteadyClock::time_point start_, last_weighed_, last_exact_, last_disk_;
  Spawned child_;
  std::size_t fed_ = 0;
  Fd log_;
  std::int64_t logged_ = 0;
  ProcessResult result_;
};

constexpr std::size_t longest_line = 400;  // characters of a process's words in a reason

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.pop_back();
  if (const auto at = text.rfind('\n'); at != std::string::npos) text.erase(0, at + 1);
  return shortened(text.substr(0, 4 * longest_line), longest_line);
}

// Whether a variable tells the loader, Python or a shell to run what lies elsewhere.
bool loads_code(std::string_view name) {
  constexpr std::string_view others[] = {"PYTHONPATH",     "PYTHONHOME", "PYTHONSTARTUP",
                                         "PYTHONUSERBASE", "BASH_ENV",   "ENV"};
  return name.starts_with("LD_") || std::ranges::find(others, name) != std::end(others);
}

bool is_own_variable(const std::string& name, const std::string& value) {
  const char* own = std::getenv(name.c_str());
  return own && value == own;
}

// "matmul.py, line 12: " where the output ends in a Python exception, the place being the last of
// the traceback that is not in a library; else empty.
std::string place_of_exception(const std::string& output) {
  constexpr std::string_view frame_prefix = "\n  File \"";
  std::string place;
  const std::string text =
      "\n" + output.substr(output.size() - std::min(output.size(), traceback_bytes));
  for (auto at = text.find(frame_prefix); at != std::string::npos;
       at = text.find(frame_prefix, at + 1)) {
    const auto begin = at + frame_prefix.size();
    const std::string line = text.substr(begin, text.find('\n', begin) - begin);
    const auto file_ends = line.find("\", line ");
    if (file_ends == std::string::npos) continue;
    const std::string file = line.substr(0, file_ends);
    const bool library = file.starts_with("<") || file.find("/lib/python") != std::string::npos ||
                         file.find("/torch/") != std::string::npos;
    const auto number = file_ends + std::string_view("\", line ").size();
    if (!library)
      place = shortened(std::filesystem::path(file).filename().string(), longest_line) + ", line " +
              line.substr(number, line.find_first_not_of("0123456789", number) - number) + ": ";
  }
  return place;
}

}  // namespace

std::string ProcessResult::describe() const {
  if (!start_error.empty()) return start_error;
  char text[160] = "ended well";
  if (timed_out)
    std::snprintf(text, sizeof text, "timed out after %.10g s",
                  timeout_seconds > 0 ? timeout_seconds : std::round(seconds * 10) / 10);
  else if (out_of_memory)
    std::snprintf(text, sizeof text, "ran out of memory after %.1f s%s%.100s", seconds,
                  memory_limit.empty() ? "" : "; it took ", memory_limit.c_str());
  else if (!flooded.empty())
    std::snprintf(text, sizeof text, "ended for too much of its %s", flooded.c_str());
  else if (stopped)
    std::snprintf(text, sizeof text, "stopped on request");
  else if (signal != 0)
    std::snprintf(text, sizeof text, "ended by signal %d (%s)", signal, ::strsignal(signal));
  else if (exit_code != 0)
    std::snprintf(text, sizeof text, "ended with exit code %d", *exit_code);
  const std::string last = last_line(output);
  return last.empty() ? text : std::string(text) + ": " + place_of_exception(output) + last;
}

std::string ProcessResult::end_of_output() const {
  constexpr std::size_t lines = 30, bytes_at_once = 4000;
  std::string text = output.substr(output.size() - std::min(output.size(), bytes_at_once));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  auto begin = text.size();
  for (std::size_t line = 0; line < lines && begin != std::string::npos; ++line)
    begin = begin == 0 ? std::string::npos : text.rfind('\n', begin - 1);
  return begin == std::string::npos ? text : text.substr(begin + 1);
}

ProcessResult run_trusted(const ProcessSpec& spec, std::stop_token stop) {
  for (const auto& [name, value] : spec.environment)
    if (loads_code(name) && !is_own_variable(name, value))
      throw std::logic_error("a trusted process is given " + name + "=" + value);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ProcessSpec at_home = spec;
  if (at_home.folder.empty()) at_home.folder = "/";
  return Guard(at_home, nullptr, nullptr, {}, std::move(stop)).run();
}

ProcessResult run_untrusted(const ProcessSpec& spec, const BuildRights& rights,
                            std::stop_token stop) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  static const MemoryBudget budget = budget_of(memory_of_machine());
  const auto group = spec.memory_group
                         ? MemoryGroup::make(least_limit(spec.memory_bytes, budget.most))
                         : std::nullopt;
  return Guard(spec, std::get_if<Confinement>(&rights), group ? &*group : nullptr, budget,
               std::move(stop))
      .run();
}

ProcessSpec trusted_python(const std::filesystem::path& python, PythonText text) {
  ProcessSpec spec;
  spec.command = {python.string(), "-I", "-c", text.text()};
  spec.environment = clean_environment("/tmp");
  return spec;
}

std::map<std::string, std::string> clean_environment(const std::filesystem::path& home) {
  std::map<std::string, std::string> out{{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                                         {"LANG", "C.UTF-8"}};
  if (const char* path = std::getenv("PATH")) out["PATH"] = path;
  out.merge(driver_variables());
  out["HOME"] = home.string();
  out["TMPDIR"] = home.string();
  return out;
}

}  // namespace nightjar::runner
