// What builds we know and how far each is proved.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/build.hpp"
#include "storage/page.hpp"

namespace nightjar::storage {

// Stores a build seen at a source; the row that is there (same kind, version, variant and url) is
// returned unchanged.
Build add_build(Transaction& transaction, const Build& build);
void update_build(Transaction& transaction, const Build& build);
std::optional<Build> find_build(const Database& db, BuildId id);
std::vector<Build> builds_in_state(const Database& db, BuildState state);
// The newest proved nightly of `variant` by date then version (2.10 is above 2.9); nullopt if none.
std::optional<Build> newest_proved(const Database& db, std::string_view variant);
// Returns the commit's builds of every kind, newest first.
std::vector<Build> builds_of_commit(const Database& db, const CommitSha& commit);
// Finds the build that is the wheel of `base` with the packages of `lock`.
std::optional<Build> crossed_build(const Database& db, BuildId base, const Sha256& lock);
// Overlays of a commit that were made, newest first.
std::vector<Build> overlays_of_commit(const Database& db, const CommitSha& commit,
                                      std::string_view variant);
// Wheels that overlays of the commits of open searches lie on.
std::vector<BuildId> bases_of_open_searches(const Database& db);

// Written once for a commit and its rules.
void add_commit_state(Transaction& transaction, const CommitState& state);
std::optional<CommitState> find_commit_state(const Database& db, const CommitSha& commit,
                                             int rules);
// Proved wheels of a variant (of every kind but overlay and crossed) whose commit has the same
// native state, wherever in history it lies; the newest first.
std::vector<Build> wheels_of_native_group(const Database& db, std::string_view variant,
                                          const CommitState& state);
// The same for the library state.
std::vector<Build> wheels_of_same_libraries(const Database& db, std::string_view variant,
                                            const CommitState& state);
// All of them, the newest first.
std::vector<Build> proved_wheels(const Database& db, std::string_view variant);
Page<Build> list_builds(const Database& db, const PageRequest& page);

}  // namespace nightjar::storage
