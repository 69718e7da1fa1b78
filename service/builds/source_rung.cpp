#include "service/builds/source_rung.hpp"

#include <algorithm>

#include "service/builds/proof.hpp"
#include "service/builds/wheel.hpp"
#include "service/builds/wheel_name.hpp"
#include "storage/base/digest.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"

namespace nightjar::service {
namespace {
using storage::Database;
using storage::SourceBuild;
using storage::SourceState;

BuildOutcome outcome_of_waiting(const Database& db, const SourceBuild& asked) {
  const auto job = storage::find_job(db, asked.job);
  const JobState state = job ? job->state : JobState::cancelled;
  const Time since = std::max(job ? job->created_at : Time{}, asked.not_before);
  if (state == JobState::leased) return BeingMade{asked.job, state, since, asked.failures};
  if (state == JobState::cancelled || state == JobState::failed)
    return PutOff{asked.job, job ? job->reason : "its job is gone", asked.failures, std::nullopt};
  if (asked.failures > 0) return PutOff{asked.job, asked.reason, asked.failures, asked.not_before};
  return BeingMade{asked.job, state, since, 0};
}

BuildOutcome outcome_of_built(const Database& db, const SourceBuild& asked) {
  const auto build = storage::find_build(db, *asked.build);
  if (!build) return PutOff{asked.job, "its build is not stored any more", asked.failures, {}};
  if (build->state == BuildState::proved) return MadeFromSource{asked.job, *build};
  if (build->state == BuildState::found) return BeingMade{asked.job, JobState::done, {}, 0};
  return PutOff{asked.job, "its wheel is no use: " + build->reason, asked.failures, std::nullopt};
}

std::optional<Unproved> disagreement(const ToProve& asked, const WheelFacts& facts,
                                     const git::CommitGraph& graph, const Project& project) {
  const std::string file = file_name_of(asked.build.url);
  const std::string distribution = file.substr(0, file.find('-'));
  if (normalized_name(distribution) != normalized_name(project.package))
    return Unproved{"it is a wheel of '" + distribution + "', not of " + project.package};
  if (const auto reason = metadata_disagrees(asked.build, facts, project))
    return Unproved{*reason, BuildState::unusable};
  if (!graph.find(asked.commit))
    return Unproved{"commit " + asked.commit.brief() + " is not known here"};
  if (project.version_file.empty()) return std::nullopt;
  const VersionFile& version = facts.version_file;
  if (version.version != asked.build.version)
    return Unproved{project.version_file + " says version " + version.version + ", the file name " +
                    asked.build.version};
  if (version.git_version && *version.git_version != asked.commit.str())
    return Unproved{project.version_file + " names commit " + *version.git_version + ", not " +
                    asked.commit.str()};
  const bool cuda = asked.build.variant.starts_with("cu");
  if (cuda != version.cuda.has_value())
    return Unproved{"it should be of variant " + asked.build.variant + ", but was built for " +
                    (version.cuda ? "CUDA " + *version.cuda : "the CPU only")};
  return std::nullopt;
}

}  // namespace

BuildOutcome build_outcome(const Database& db, const Sha256& native_state, std::string_view variant,
                           const Sha256& recipe, const CommitSha& commit) {
  const auto asked = storage::find_source_build(db, native_state, variant, recipe, commit);
  if (!asked) return NotAsked{};
  switch (asked->state) {
    case SourceState::waiting:
      return outcome_of_waiting(db, *asked);
    case SourceState::built:
      return outcome_of_built(db, *asked);
    case SourceState::does_not_compile:
      return CannotBeMade{asked->job, SourceOutcome::does_not_compile, asked->reason};
    case SourceState::does_not_import:
      break;
  }
  return CannotBeMade{asked->job, SourceOutcome::does_not_import, asked->reason};
}

std::optional<ToProve> next_to_prove(const Database& db) {
  const auto waiting = storage::unproved_source_build(db);
  if (!waiting) return std::nullopt;
  const auto build = storage::find_build(db, *waiting->build);
  if (!build) return std::nullopt;
  return ToProve{*build, waiting->commit};
}

Build prove_from_source(const ToProve& asked, const std::filesystem::path& wheel,
                        const git::CommitGraph& graph, const Project& project) {
  Build build = asked.build;
  build.state = BuildState::unproved;
  try {
    if (digest_of_file(wheel) != asked.build.sha256) {
      build.reason = "the stored wheel has another hash than the one that was built";
      return build;
    }
    const WheelFacts facts = read_wheel(wheel, project.version_file);
    if (const auto unproved = disagreement(asked, facts, graph, project)) {
      build.state = unproved->state;
      build.reason = unproved->reason;
      return build;
    }
  } catch (const BadWheel& bad) {
    build.state = BuildState::unusable;
    build.reason = bad.what();
    return build;
  }
  build.state = BuildState::proved;
  build.reason.clear();
  build.commit = build.nightly_commit = asked.commit;
  return build;
}

}  // namespace nightjar::service
