// Nights, and the audit of who started what.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/night.hpp"
#include "storage/page.hpp"

namespace nightjar::storage {

Night add_night(Transaction& transaction, const Night& night);
void update_night(Transaction& transaction, const Night& night);
std::optional<Night> find_night(const Database& db, NightId id);
std::optional<Night> find_night_of_build(const Database& db, BuildId build);
std::vector<Night> open_nights(const Database& db);  // neither done nor cancelled, oldest first
// The oldest night that `trigger` started and that still waits for a build.
std::optional<Night> waiting_night(const Database& db, NightTrigger trigger);
// The oldest night that measures `build` (nullopt: any) and of which no job was ever claimed.
std::optional<Night> unclaimed_night(const Database& db, std::optional<BuildId> build);
NightId newest_night(const Database& db);                        // 0: none
std::optional<Night> newest_measured_night(const Database& db);  // imported ones are left out
// The newest night before `before` that is done, and measured its variant on this machine class.
std::optional<Night> last_night_on(const Database& db, MachineId machine, NightId before);
Page<Night> list_nights(const Database& db, const PageRequest& page);

struct AuditEntry {
  std::int64_t id = 0;
  Time at{};
  std::string actor;    // "schedule", "webhook:<delivery id>", "token:<name>", "runner:<name>"
  std::string action;   // "start-night", "register-runner"
  std::string subject;  // what it was done to, e.g. "night/3"
};
void add_audit(Transaction& transaction, const AuditEntry& entry);
Page<AuditEntry> list_audit(const Database& db, const PageRequest& page);

// False if this webhook delivery was seen before; true the first time, which remembers it.
bool remember_delivery(Transaction& transaction, std::string_view delivery_id, Time at);

// Small named facts of the service that outlive a restart, e.g. "last-scheduled-date".
std::optional<std::string> get_note(const Database& db, std::string_view name);
void set_note(Transaction& transaction, std::string_view name, std::string_view value);

}  // namespace nightjar::storage
