// The native states of the commits that searches ask for and of the wheels that may serve them.
#pragma once

#include <vector>

#include "service/engine/context.hpp"
#include "storage/model/build.hpp"

namespace nightjar::service {

// Commits of open searches and of proved wheels whose state is not stored yet, each once. Commits
// that the repository's copy lacks are among them.
std::vector<CommitSha> commits_without_state(const EngineView& view);
// Reads git only.
std::vector<CommitState> states_of(const EngineView& view, const std::vector<CommitSha>& commits);
// Stores them in one transaction; true if there was one to store.
bool record_commit_states(EngineContext& context);

}  // namespace nightjar::service
