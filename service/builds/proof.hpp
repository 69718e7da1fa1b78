// Is a build what its name says? Holds the file's name and hash, what is inside it, and the
// repository's history against each other. Pure over its inputs; used by discovery.
#pragma once

#include <string>
#include <variant>

#include "bisect/git/commit_graph.hpp"
#include "service/builds/wheel.hpp"
#include "service/config.hpp"
#include "storage/model/build.hpp"

namespace nightjar::service {

struct Proved {
  CommitSha commit;       // on main's first-parent history
  CommitSha git_version;  // what torch/version.py says: a nightly release of it, or the same
};
struct Unproved {
  std::string reason;  // one sentence, names what disagrees
};

// `build.sha256` is what the index claims, if it does. Checked in this order: the hash; the version
// in file name, METADATA and torch/version.py; the variant against cuda and hip; git_version, which
// is either a commit of the nightly branch "YYYY-MM-DD nightly release (<main commit>)" with that
// commit's tree, dated within a day of the version (the version has the date of the build), or a
// commit of main itself. A commit that is on neither branch (a pull request's) proves nothing.
// `graph` must have been fetched.
std::variant<Proved, Unproved> prove(const Build& build, const Sha256& file_sha256,
                                     const WheelFacts& facts, const git::CommitGraph& graph,
                                     const Config::Repository& branches);

}  // namespace nightjar::service
