// One installable PyTorch, how far its identity is proved, and what it was compiled from. Used by
// discovery, planner, reports.
#pragma once

#include <optional>
#include <string>

#include "storage/model/enum.hpp"
#include "storage/model/hex.hpp"
#include "storage/model/id.hpp"
#include "storage/model/time.hpp"

namespace nightjar {

// crossed: the wheel of another build, `base`, with the packages of a third.
NIGHTJAR_ENUM(BuildKind, nightly, ci, overlay, source, crossed);

// found: listed by a source, nothing proved yet. proved: hash, version and commit agree.
// unproved: kept and marked, never measured. unusable: at fault as a package, or no versions of
// other packages satisfy it; nothing is measured, and no commit is to blame. imported: only a
// history of somebody else's knows it (model/history.hpp); never measured here.
NIGHTJAR_ENUM(BuildState, found, proved, unproved, unusable, imported);

// Which machines can run a wheel, as far as it says; nullopt: it does not say.
struct BuildNeeds {
  std::optional<std::string> python_tag;    // "cp311"
  std::optional<std::string> platform_tag;  // "manylinux_2_28_x86_64"
  std::optional<std::string> glibc;         // the oldest that will do, "2.28"
  // What its GPU code is compiled for, "sm_75 sm_89 compute_90": for exactly these, and for all
  // that are not older. Empty: it has none.
  std::optional<std::string> gpu_architectures;
};

struct Build {
  BuildId id;
  BuildKind kind = BuildKind::nightly;
  std::string version;  // "2.15.0.dev20260820+cpu"; an overlay: "<base version>+<12 hex of commit>"
  std::string variant;  // "cpu", "cu130"
  std::string date;     // "2026-08-20", the version's UTC date; empty for other kinds
  std::string url;      // where the wheel was found; empty for an overlay and for a crossed one
  std::optional<CommitSha> commit;          // main's commit
  std::optional<CommitSha> nightly_commit;  // what torch/version.py:git_version says
  std::optional<Sha256> sha256;             // of the wheel; of the overlay archive
  std::optional<BuildId>
      base;  // the build that an overlay lies on, or whose wheel a crossed one is
  BuildState state = BuildState::found;
  std::string reason;  // why unproved or unusable, one sentence
  Time found_at{};
  BuildNeeds needs;  // of a wheel
  // The lock of the packages that it is installed with; nullopt: those of the runner's own Python.
  std::optional<Sha256> lock = {};
};

// What a commit's compiled files depend on, as hashes. Commits with the same native state are a
// native group: a wheel of one of them, with the Python files of another laid over, is a build of
// that other one.
struct CommitState {
  CommitSha commit;
  int rules = 0;   // by which paths were told apart; states by different rules cannot be compared
  Sha256 native;   // of all native files and of the headers that only other programs include
  Sha256 library;  // without those headers: commits with the same one have the same libraries
};

}  // namespace nightjar
