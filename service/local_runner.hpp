// An agent beside the service, as a child process that is started again when it ends: for trying
// things out on one machine. It speaks HTTP like any other.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

#include "service/config.hpp"
#include "storage/base/child.hpp"

namespace nightjar::service {

// What the runner beside a service has to know of its configuration: how to log in at indexes, and
// which internal hosts their links may lead to. `commands`: the runner's --commands; empty: none.
std::vector<std::string> local_runner_options(const Config& config,
                                              const std::filesystem::path& commands);

class LocalRunner {
 public:
  // `program`: nightjar-runner. The token is handed over in a file that only this user can read.
  // `options`: what it is told besides, as local_runner_options() has it.
  LocalRunner(std::filesystem::path program, std::string service_url, std::string token,
              std::filesystem::path folder, std::vector<std::string> options);
  ~LocalRunner();  // stops it
  LocalRunner(const LocalRunner&) = delete;
  LocalRunner& operator=(const LocalRunner&) = delete;

 private:
  void keep_running();
  Child start() const;

  std::filesystem::path program_, folder_;
  std::vector<std::string> options_;
  std::string service_url_;
  std::atomic<bool> stopping_ = false;
  std::atomic<pid_t> child_ = 0;
  std::thread thread_;
};

}  // namespace nightjar::service
