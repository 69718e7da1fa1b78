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
// The overlay or source build of a commit, if one was made.
std::optional<Build> find_build_of_commit(const Database& db, const CommitSha& commit,
                                          std::string_view variant, BuildKind kind);
// Of every kind, newest first.
std::vector<Build> builds_of_commit(const Database& db, const CommitSha& commit);
Page<Build> list_builds(const Database& db, const PageRequest& page);

}  // namespace nightjar::storage
