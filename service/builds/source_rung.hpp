// The rung `source`: what became of the wheels that builders were asked for, and whether they are
// what they say. storage/source_builds.hpp has request_build(), which asks. Used by the search and
// by the daemon.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "bisect/git/commit_graph.hpp"
#include "service/config.hpp"
#include "service/project.hpp"
#include "storage/source_builds.hpp"

namespace nightjar::service {

struct NotAsked {};
// It is queued, being built, or built and not proved yet.
struct BeingMade {
  JobId job;
  JobState state = JobState::queued;
  Time since{};      // it was asked for, or may be tried again
  int failures = 0;  // of the infrastructure, before this
};
struct MadeFromSource {
  JobId job;
  Build build;  // proved
};
struct CannotBeMade {
  JobId job;
  SourceOutcome why = SourceOutcome::does_not_compile;  // or does_not_import
  std::string reason;
};
// The infrastructure failed, or the wheel was not what was asked for. The commit is not to blame.
struct PutOff {
  JobId job;
  std::string reason;
  int failures = 0;
  std::optional<Time> not_before;  // when it is tried again; nullopt: not by itself
};
using BuildOutcome = std::variant<NotAsked, BeingMade, MadeFromSource, CannotBeMade, PutOff>;

// Returns the outcome of the group that has this native state, as far as it concerns `commit`. A
// build that was put off is PutOff until a builder takes it again.
BuildOutcome build_outcome(const storage::Database& db, const Sha256& native_state,
                           std::string_view variant, const Sha256& recipe, const CommitSha& commit);

// A source build whose wheel still has to be proved, with the commit that it was made of.
struct ToProve {
  Build build;
  CommitSha commit;
};
std::optional<ToProve> next_to_prove(const storage::Database& db);

// Holds the wheel's hash, name and METADATA, and its version file if the project has one, against
// what was asked for. Returns the build as proved, unproved or unusable, with the reason. Reads
// files and `graph` only. Throws std::runtime_error if the wheel cannot be read.
Build prove_from_source(const ToProve& asked, const std::filesystem::path& wheel,
                        const git::CommitGraph& graph, const Project& project);

}  // namespace nightjar::service
