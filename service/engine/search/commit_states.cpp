#include "service/engine/search/commit_states.hpp"

#include <set>

#include "service/builds/native_state.hpp"
#include "service/builds/overlay.hpp"
#include "storage/bisections.hpp"
#include "storage/builds.hpp"

namespace nightjar::service {

std::vector<CommitSha> commits_without_state(const EngineView& view) {
  std::set<CommitSha> wanted;
  for (const Bisection& search : storage::open_bisections(view.db))
    wanted.insert(search.commits.begin(), search.commits.end());
  for (const Config::Source* source : sources_of(view.config))
    for (const Build& wheel : storage::proved_wheels(view.db, source->variant))
      if (wheel.commit) wanted.insert(*wheel.commit);
  const int rules = path_rules(view.config.project);
  std::vector<CommitSha> missing;
  for (const CommitSha& commit : wanted)
    if (!storage::find_commit_state(view.db, commit, rules)) missing.push_back(commit);
  return missing;
}

std::vector<CommitState> states_of(const EngineView& view, const std::vector<CommitSha>& commits) {
  NativeStates states(view.graph, view.config.project);
  std::vector<CommitState> found;
  for (const CommitSha& commit : commits)
    if (const auto state = states.of(commit)) found.push_back(*state);
  return found;
}

bool record_commit_states(EngineContext& context) {
  const auto found = states_of(context, commits_without_state(context));
  if (found.empty()) return false;
  storage::write(context.db, [&](storage::Transaction& transaction) {
    for (const CommitState& state : found) storage::add_commit_state(transaction, state);
  });
  return true;
}

}  // namespace nightjar::service
