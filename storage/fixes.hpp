// Searches for the commits of fixes, with what they named.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/fix.hpp"

namespace nightjar::storage {

// One a build and machine class: the one that is there is returned unchanged.
FixSearch add_fix_search(Transaction& transaction, const FixSearch& fix);
// Stores `causes` and `evidence` of a search that has ended. Throws Error if it ended before.
void end_fix_search(Transaction& transaction, const FixSearch& fix);
std::optional<FixSearch> find_fix_search(const Database& db, FixId id);
std::optional<FixSearch> fix_search_of(const Database& db, BuildId build, MachineId machine);

}  // namespace nightjar::storage
