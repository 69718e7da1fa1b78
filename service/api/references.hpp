// What people type in place of an id: a commit's first digits, a version or how it begins.
// Internal to the API.
#pragma once

#include <string>

#include "bisect/git/commit_graph.hpp"
#include "service/api/query.hpp"

namespace nightjar::service::api {

// The one commit that these 4 to 40 digits begin. Refused (400) if several do, which it names, or,
// of a query parameter, if none does; in a path, where `parameter` is empty, that is a 404.
CommitSha commit_called(const storage::Database& db, const git::CommitGraph& commits,
                        const std::string& digits, const std::string& parameter = "");
// The one build that `text` names: its id, its version, how that begins, or how its commit does.
// Refused as a commit is. That there is a build with an id is not checked.
BuildId build_called(const storage::Database& db, const std::string& text,
                     const std::string& parameter = "");

}  // namespace nightjar::service::api
