// Results on disk until the service has them: written and synced before they are sent, removed
// after they were accepted. A killed runner or a dead service loses nothing that was measured.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/agent/coordinator.hpp"
#include "storage/model/job.hpp"

namespace nightjar::runner {

class Spool {
 public:
  explicit Spool(std::filesystem::path folder);

  struct Entry {
    JobId job;
    int attempt = 0;
    std::filesystem::path path;
  };
  // <folder>/<job>-<attempt>.json: {"attempt": n, "nonce": "...", "result": {...}}
  void put(const Claim& claim, const SessionResult& result);
  // Returns all results that wait, by job and attempt. Ignores files of other names.
  std::vector<Entry> pending() const;
  void remove(const Entry& entry);
  // Moves a result that the service will never take to <folder>/rejected, for a person to read.
  void reject(const Entry& entry);

 private:
  const std::filesystem::path folder_;
};

}  // namespace nightjar::runner
