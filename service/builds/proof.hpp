// Is a build what its name says? Holds the file's name and hash, what is inside it, and the
// repository's history against each other. Pure over its inputs; used by discovery.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "bisect/git/commit_graph.hpp"
#include "service/builds/wheel.hpp"
#include "service/config.hpp"
#include "storage/model/build.hpp"

namespace nightjar::service {

struct Proved {
  CommitSha commit;       // on main's first-parent history
  CommitSha git_version;  // what the wheel says: a nightly release of it, or the same
};
struct Unproved {
  std::string reason;  // one sentence, names what disagrees
  // unusable: it is at fault as a package, since installers refuse METADATA that does not fit the
  // file name.
  BuildState state = BuildState::unproved;
};

// Why METADATA is of another package or version than the build, which has them of its file name;
// nullopt: it fits.
std::optional<std::string> metadata_disagrees(const Build& build, const WheelFacts& facts,
                                              const Project& project);

// `build.sha256` is what the index claims, if it does. Checked in this order: the hash; the version
// in file name, METADATA and the project's version file; the variant against cuda and hip;
// git_version, which is either a commit of the nightly branch "YYYY-MM-DD nightly release (<main
// commit>)" with that commit's tree, dated within a day of the version (the version has the date of
// the build), or a commit of main itself. A commit that is on neither branch (a pull request's)
// proves nothing. Where the project has no version file, the version itself has to name the commit,
// as in "1.2.dev20260820+cpu.g1a2b3c4d". `graph` must have been fetched.
std::variant<Proved, Unproved> prove(const Build& build, const Sha256& file_sha256,
                                     const WheelFacts& facts, const git::CommitGraph& graph,
                                     const Config::Repository& branches, const Project& project);

// The native state of a commit; nullopt if it is not known.
using NativeStateOf = std::function<std::optional<Sha256>(const CommitSha&)>;

// The same for a wheel that CI uploaded for `head`, the head of the run: that is trusted, and it
// must be on main. File name, METADATA and torch/version.py name it as the version's
// "+git<digits>". CI lays Python files over an older wheel where no native file has changed:
// git_version is then the older commit, which must be on main and of the same native state.
std::variant<Proved, Unproved> prove_ci(const Build& build, const CommitSha& head,
                                        const WheelFacts& facts, const git::CommitGraph& graph,
                                        const Config::Repository& branches,
                                        const NativeStateOf& native_state);

}  // namespace nightjar::service
