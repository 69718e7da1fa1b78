// A runner's own token: drawn here, made valid by a one-time token, and replaced when it is old.
// The service stores its hash before the file has it, and the file keeps the old token until then,
// so a kill at any instant locks nobody out. Used by the command `agent`.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "storage/model/time.hpp"

namespace nightjar::runner {

class OwnToken {
 public:
  // `file` holds the token and nothing else; only this user can read it. `service`:
  // "http://host:port".
  OwnToken(std::filesystem::path file, std::string service);

  const std::filesystem::path& file() const { return file_; }
  bool is_kept() const;  // false: this runner has to enrol first
  // Throws std::invalid_argument if the file does not hold one word.
  std::string read() const;
  Time made_at() const;
  // Where a token waits for the service's answer. A later attempt presents the same one again.
  std::filesystem::path next_file() const;

  // Makes a token valid under the runner's `name`, and keeps it. Waits for a service that is away.
  // False if `stop` came first. Throws std::runtime_error if the service refuses.
  bool enrol(const std::string& one_time_token, const std::string& name, std::stop_token stop);
  // Replaces the token by a new one. False if the service did not take it: the old one is kept, and
  // error() says why.
  bool rotate();
  const std::string& error() const { return error_; }

 private:
  std::string next();
  void keep_next();

  const std::filesystem::path file_;
  const std::string service_;
  std::string error_;
};

}  // namespace nightjar::runner
