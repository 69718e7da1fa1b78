// The running service: HTTP on the I/O thread, rows on the writer's, queries on the readers',
// builds and the issue tracker on threads of their own. Built by nightjard's main.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "service/config.hpp"
#include "storage/base/file_lock.hpp"

namespace nightjar::service {

class Daemon {
 public:
  // Opens database, artifacts and repository copy, and binds the port. Throws with context if one
  // of them cannot be had.
  explicit Daemon(Config config);
  ~Daemon();
  std::uint16_t port() const;
  // A token of role runner that only this process knows, for an agent on the same machine.
  std::string local_runner_token() const;
  // Serves until SIGTERM or SIGINT.
  void run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

std::filesystem::path database_file(const Config& config);
// Keeps the data folder to this process; whoever writes the database holds it. Throws
// std::runtime_error that names the folder and its holder.
FileLock lock_data(const Config& config);

}  // namespace nightjar::service
