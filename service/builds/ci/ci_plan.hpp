// Which commits' CI wheels to look for: one a native group, for open searches and for the mirror.
// Used by the daemon's writer thread; nothing here touches the network.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bisect/git/commit_graph.hpp"
#include "service/builds/ci/ci_rung.hpp"
#include "service/builds/proof.hpp"
#include "service/config.hpp"
#include "storage/database.hpp"
#include "storage/model/ci_lookup.hpp"
#include "storage/model/time.hpp"

namespace nightjar::service::ci {

// A commit for which a wheel would be of use.
struct Served {
  CommitSha commit;
  std::optional<Sha256> native_state = {};  // nullopt: unknown, the commit is a group of its own
  bool has_wheel = false;                   // a proved build of this commit, whatever its place
  std::optional<CiLookup> lookup = {};
};

// Returns the commits to ask for, at most one a native group. A group needs none if it has a wheel,
// or if one of its commits is looked for already. That commit is asked for again if it was not to
// be fetched or not urgent before, and now is. The newest commit of a group comes first, since its
// wheel is kept longest; if it has no wheel, the next one follows. `commits` are in order, oldest
// first. Pure.
std::vector<Served> commits_to_ask(std::span<const Served> commits, bool fetch, bool urgent);

// Stores what open searches of the source's variant want now, by the source's mirror policy; true
// if something is new. Where native commits lie between a search's ends, a group that has only a
// nightly's wheel is asked for too.
bool plan_for_searches(storage::Database& db, const git::CommitGraph& graph, const Config& config,
                       const Config::Source& source, const NativeStateOf& native_state,
                       const Clock& clock);
// The same for the last days' commits, if the policy says so. Reads each of them: not for every
// tick.
bool plan_for_mirror(storage::Database& db, const git::CommitGraph& graph, const Config& config,
                     const Config::Source& source, const NativeStateOf& native_state,
                     const Clock& clock);

// Stores what a look brought. Applying it twice changes nothing. Returns the build's row, if one
// was proved.
std::optional<Build> apply(storage::Transaction& transaction, const Finding& finding);

}  // namespace nightjar::service::ci
