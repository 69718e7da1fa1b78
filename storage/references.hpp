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
// The builds of this version. Where there is none: those whose version begins so, and wheels whose
// commit does; overlays and crossed builds are left out then. At most `most`.
std::vector<BuildName> builds_called(const Database& db, std::string_view text, int most);

}  // namespace nightjar::storage
