// What people type in place of an id: a commit's first digits, a version or how it begins. And ids
// that a body has. Internal to the API.
#pragma once

#include <string>

#include "bisect/git/commit_graph.hpp"
#include "service/api/query.hpp"

namespace nightjar::service::api {

// The one commit that these 4 to 40 digits begin. Refused if several do (400), which it names, and
// if none does (404). `parameter` is the query's that has the name; empty: the path has it.
CommitSha commit_called(const storage::Database& db, const git::CommitGraph& commits,
                        const std::string& digits, const std::string& parameter = "");
// The one build that `text` names: its id, its version, how that begins, or how its commit does.
// Refused as a commit is. That there is a build with an id is not checked.
BuildId build_called(const storage::Database& db, const std::string& text,
                     const std::string& parameter = "");
// Refused (422) if there is no machine class with this id, which a body has as `machine`.
void require_machine(const storage::Database& db, MachineId machine);

}  // namespace nightjar::service::api
