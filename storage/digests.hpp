// Which periods and which fixes the issue tracker was told of, and what a digest is made from. Each
// is told once, however often the engine decides.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "storage/database.hpp"
#include "storage/marks.hpp"
#include "storage/model/outbox.hpp"
#include "storage/model/time.hpp"

namespace nightjar::storage {

// [from, until).
struct Period {
  Time from{}, until{};
};
// Stores that the period is over and queues its message; nullopt: nothing is told of it. Throws
// Error if a period with the same end is stored.
void add_digest(Transaction& transaction, const Period& period,
                const std::optional<OutboxMessage>& message, Time decided_at);
bool has_digest(const Database& db, Time until);
// The newest end before `until` of a period that is stored.
std::optional<Time> last_digest_before(const Database& db, Time until);
// When the first night of this database began, which never changes.
std::optional<Time> first_night_began(const Database& db);

// Queues the message that tells of a build's fix. Throws Error if that build was told of.
void add_fix_report(Transaction& transaction, BuildId build, const OutboxMessage& message);
// Improvements that nights which are over showed since `since`, by the build that made them: only
// of builds that improved `least` workloads or more and were not told of. Imported nights are left
// out.
std::map<BuildId, std::vector<Improvement>> untold_fixes(const Database& db, Time since, int least);

// A build of this version that a night measured; the newest if there are several.
std::optional<BuildId> measured_build(const Database& db, std::string_view version);
// Returns the build of the newest night of the variant that is done and began before `before`.
std::optional<BuildId> newest_measured(const Database& db, std::string_view variant, Time before);

}  // namespace nightjar::storage
