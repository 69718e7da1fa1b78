// Which commits' CI wheels are wanted, and what became of each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/ci_lookup.hpp"
#include "storage/page.hpp"

namespace nightjar::storage {

// Asks for a look at once. One that is there is kept, and becomes one that is to be fetched, or
// urgent, if the new one is: a wheel that was found is then looked at once more.
CiLookup want_ci_wheel(Transaction& transaction, const CiLookup& wanted);
// Writes what a look brought. What was asked for meanwhile stays: a wheel that was found, and now
// is to be fetched, is due at once.
void note_ci_look(Transaction& transaction, const CiLookup& lookup);
std::optional<CiLookup> find_ci_lookup(const Database& db, const CommitSha& commit,
                                       std::string_view variant);
// The one whose turn it is: of those of the variants whose time has come an urgent one, then one
// that is to be fetched, then the one that has waited longest. nullopt: none is due.
std::optional<CiLookup> next_ci_lookup(const Database& db, const std::vector<std::string>& variants,
                                       Time now);
// Wheels of CI that serve commits of open searches: of one of them, or of its native group.
std::vector<BuildId> ci_builds_of_open_searches(const Database& db);
Page<CiLookup> list_ci_lookups(const Database& db, const PageRequest& page);

}  // namespace nightjar::storage
