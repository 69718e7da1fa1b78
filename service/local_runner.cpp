#include "service/local_runner.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/base/child.hpp"
#include "storage/base/fd.hpp"
#include "storage/base/files.hpp"
#include "storage/base/log.hpp"

namespace nightjar::service {
std::vector<std::string> local_runner_options(const Config& config,
                                              const std::filesystem::path& commands) {
  std::vector<std::string> options;
  if (!commands.empty()) options.insert(options.end(), {"--commands", commands});
  if (const auto& file = config.service.credentials_file; !file.empty())
    options.insert(options.end(), {"--credentials", file});
  for (const std::string& origin : config.environment.internal)
    options.insert(options.end(), {"--internal", origin});
  return options;
}

LocalRunner::LocalRunner(std::filesystem::path program, std::string service_url, std::string token,
                         std::filesystem::path folder, std::vector<std::string> options)
    : program_(std::move(program)),
      folder_(std::move(folder)),
      options_(std::move(options)),
      service_url_(std::move(service_url)) {
  if (!std::filesystem::exists(program_))
    throw std::runtime_error("no runner to start at " + program_.string() + ": build it first");
  std::filesystem::create_directories(folder_);
  write_durably(folder_ / "token", token + "\n", 0600);
  thread_ = std::thread([this] { keep_running(); });
}

LocalRunner::~LocalRunner() {
  stopping_ = true;
  if (const pid_t child = child_; child > 0) ::kill(child, SIGTERM);
  thread_.join();
}

// A runner that ends in order keeps its results, so it is asked to, also when this process dies.
// It says what it says where this process does, and has nothing else of it.
Child LocalRunner::start() const {
  const Fd low_nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Fd nothing(::fcntl(low_nothing.get(), F_DUPFD_CLOEXEC, 10)),
      output(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10)),
      errors(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10));
  ChildSpec spec;
  spec.command = {program_,  "--service",       service_url_, "--token-file", folder_ / "token",
                  "--cache", folder_ / "cache", "--name",     "local"};
  spec.command.insert(spec.command.end(), options_.begin(), options_.end());
  for (char** variable = environ; *variable; ++variable) spec.environment.emplace_back(*variable);
  spec.descriptors = {nothing.get(), output.get(), errors.get()};
  spec.end_signal = SIGTERM;
  return start_child(spec);
}

void LocalRunner::keep_running() {
  using namespace std::chrono_literals;
  while (!stopping_) {
    const Child child = start();
    child_ = child.pid;
    int status = 0;
    while (child.error == 0 && ::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = 0;
    if (stopping_) return;
    if (child.error == 0)
      log::warn("local runner ended status={}", status);
    else
      log::warn("local runner not started program={} cause=\"{}\"", program_.string(),
                std::strerror(child.error));
    for (int i = 0; i < 20 && !stopping_; ++i) std::this_thread::sleep_for(100ms);
  }
}

}  // namespace nightjar::service
