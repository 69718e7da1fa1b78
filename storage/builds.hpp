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
Build add_build(Database& db, const Build& build);
void update_build(Database& db, const Build& build);
std::optional<Build> find_build(Database& db, BuildId id);
std::vector<Build> builds_in_state(Database& db, BuildState state);
// The newest proved nightly of `variant` by date then version (2.10 is above 2.9); nullopt if none.
std::optional<Build> newest_proved(Database& db, std::string_view variant);
// The overlay or source build of a commit, if one was made.
std::optional<Build> find_build_of_commit(Database& db, const CommitSha& commit,
                                          std::string_view variant, BuildKind kind);
Page<Build> list_builds(Database& db, const PageRequest& page);

}  // namespace nightjar::storage
