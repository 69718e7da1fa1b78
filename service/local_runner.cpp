#include "service/local_runner.hpp"

#include <chrono>
#include <signal.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/base/files.hpp"
#include "storage/base/log.hpp"

namespace nightjar::service {
LocalRunner::LocalRunner(std::filesystem::path program, std::string service_url, std::string token,
                         std::filesystem::path folder, std::filesystem::path commands)
    : program_(std::move(program)),
      folder_(std::move(folder)),
      commands_(std::move(commands)),
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

// By hand: start_child() has its child killed when this process dies, and a runner shall end in
// order then, with its results kept.
pid_t LocalRunner::start() const {
  const std::string token = folder_ / "token", cache = folder_ / "cache";
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::execl(program_.c_str(), program_.c_str(), "--service", service_url_.c_str(), "--token-file",
          token.c_str(), "--cache", cache.c_str(), "--name", "local",
          commands_.empty() ? nullptr : "--commands", commands_.c_str(),
          static_cast<char*>(nullptr));
  ::_exit(127);
}

void LocalRunner::keep_running() {
  using namespace std::chrono_literals;
  while (!stopping_) {
    child_ = start();
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = 0;
    if (stopping_) return;
    log::warn("local runner ended status={}", status);
    for (int i = 0; i < 20 && !stopping_; ++i) std::this_thread::sleep_for(100ms);
  }
}

}  // namespace nightjar::service
