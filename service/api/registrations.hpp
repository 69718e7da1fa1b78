// What the tokens of runners have registered within a day, so that none of them registers more than
// the engine can plan for in passing. Internal to the API; belongs to the writer.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "storage/database.hpp"
#include "storage/model/machine.hpp"

namespace nightjar::service::api {

// What one token may register within a day. Each runner costs every tick something, and each
// workload of a machine class costs every night a part of a session. Runners of a class that
// announce the same workloads count as one.
struct RegistrationLimits {
  std::size_t runners = 500, classes = 32, workloads = 10'000;
};

class Registrations {
 public:
  explicit Registrations(RegistrationLimits limits = {}) : limits_(limits) {}
  // Refused (429) if this runner, seen at `seen_at`, is more than its token may register. Otherwise
  // it counts from now on. False if the token has registered it, on its machine class, within a
  // day.
  bool add(const storage::Database& db, const Runner& asked);

 private:
  struct Announced {
    WorkloadSet workloads;
    Time at{};
  };
  struct OfClass {
    std::map<std::string, Announced> runners;  // by name
    std::size_t workloads = 0;                 // the most that they announced at a time
  };
  using OfToken = std::map<MachineId, OfClass>;
  // Also those that were registered before this process began.
  void refresh(const storage::Database& db, OfToken& known, const Runner& asked) const;
  void require_few(const OfToken& all, const Runner& asked) const;

  RegistrationLimits limits_;
  std::map<std::string, OfToken> tokens_;
};

}  // namespace nightjar::service::api
