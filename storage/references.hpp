// Commits and builds by what people type of them. Used by the REST interface.
#pragma once

#include <string_view>
#include <vector>

#include "storage/database.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"

namespace nightjar::storage {

// Commits that have a build, of whatever kind, and whose name begins with these digits, in lower
// case; at most `most`.
std::vector<CommitSha> commits_beginning_with(const Database& db, std::string_view digits,
                                              int most);

struct BuildName {
  BuildId id;
  std::string version;
};
// Returns the builds of this version, at most `most`. If there are none: the builds whose version
// begins with the text, and the wheels whose commit does, without overlays and crossed builds.
std::vector<BuildName> builds_called(const Database& db, std::string_view text, int most);

}  // namespace nightjar::storage
