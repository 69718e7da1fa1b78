#include "service/builds/proof.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>

#include "bisect/git/nightly.hpp"
#include "service/builds/wheel_name.hpp"

namespace nightjar::service {

namespace {

using Reason = std::optional<std::string>;

// Days since 1970 of a date that was checked when it was parsed.
std::optional<int> day_number(std::string_view date) {
  const auto part = [&](std::size_t at, std::size_t size) {
    int value = 0;
    if (date.size() == 10) std::from_chars(date.data() + at, date.data() + at + size, value);
    return value;
  };
  const std::chrono::year_month_day day{std::chrono::year(part(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(part(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(part(8, 2)))};
  if (!day.ok()) return std::nullopt;
  return std::chrono::sys_days(day).time_since_epoch().count();
}

std::optional<Unproved> versions_disagree(const Build& build, const WheelFacts& facts,
                                          const Project& project) {
  if (const auto reason = metadata_disagrees(build, facts, project))
    return Unproved{*reason, BuildState::unusable};
  if (!project.version_file.empty() && facts.version_file.version != build.version)
    return Unproved{project.version_file + " says version " + facts.version_file.version +
                    ", the file name " + build.version};
  const std::string file_name = file_name_of(build.url);
  const auto name = parse_wheel_name(file_name);
  if (!name || name->version.text != build.version)
    return Unproved{"the file is called '" + file_name + "', which is not version " +
                    build.version};
  return std::nullopt;
}

// "13.0" is variant cu130.
std::string cuda_variant(const std::string& cuda) {
  std::string digits = "cu";
  std::copy_if(cuda.begin(), cuda.end(), std::back_inserter(digits),
               [](char c) { return c != '.'; });
  return digits;
}

Reason variant_disagrees(const std::string& variant, const VersionFile& file) {
  const std::string found = file.cuda  ? "CUDA " + *file.cuda
                            : file.hip ? "ROCm " + *file.hip
                            : file.xpu ? "XPU " + *file.xpu
                                       : "the CPU only";
  const auto starts = [&](const char* prefix) { return variant.starts_with(prefix); };
  const bool right = starts("cu")     ? file.cuda && cuda_variant(*file.cuda) == variant
                     : starts("rocm") ? file.hip.has_value()
                     : starts("xpu")  ? file.xpu && !file.cuda && !file.hip
                     : starts("cpu")  ? !file.cuda && !file.hip && !file.xpu
                                      : true;
  if (right) return std::nullopt;
  return "it should be of variant " + variant + ", but was built for " + found;
}

bool on_branch(const git::CommitGraph& graph, const CommitSha& commit, const std::string& branch) {
  const auto tip = graph.resolve(branch);
  return tip && (*tip == commit || graph.range(commit, *tip));
}

Reason release_disagrees(const git::Commit& nightly, const git::NightlyRelease& release,
                         const Build& build, const git::CommitGraph& graph,
                         const Config::Repository& branches) {
  if (!on_branch(graph, nightly.sha, branches.nightly))
    return "git_version " + nightly.sha.brief() + " calls itself a nightly release but is not on " +
           branches.nightly;
  const auto main_commit = graph.find(release.main_commit);
  if (!main_commit || !on_branch(graph, release.main_commit, branches.main))
    return "its nightly release names " + release.main_commit.brief() + ", which is not on " +
           branches.main;
  if (main_commit->tree != nightly.tree)
    return "its nightly release " + nightly.sha.brief() + " has another tree than " +
           release.main_commit.brief() + ", which it names";
  const auto released = day_number(release.date);
  const auto built = day_number(build.date);
  if (!released || !built || std::abs(*released - *built) > 1)
    return "its nightly release is of " + release.date + ", its version of " + build.date;
  return std::nullopt;
}

// Proves a wheel without a version file, by the commit that its version names.
std::variant<Proved, Unproved> prove_by_name(const Build& build, const git::CommitGraph& graph,
                                             const Config::Repository& branches) {
  const auto version = parse_version(build.version);
  const std::string digits = version ? local_parts(version->variant).commit : "";
  if (digits.empty())
    return Unproved{"its version " + build.version + " does not name a commit, as in 1.2.dev" +
                    "20260820+cpu.g1a2b3c4d, and the project has no version_file that does"};
  const auto commit = graph.resolve(digits);
  if (!commit)
    return Unproved{"its version names commit " + digits + ", which is not one commit of " +
                    branches.url};
  if (!on_branch(graph, *commit, branches.main))
    return Unproved{"its version names commit " + commit->brief() + ", which is not on " +
                    branches.main};
  return Proved{*commit, *commit};
}

}  // namespace

std::optional<std::string> metadata_disagrees(const Build& build, const WheelFacts& facts,
                                              const Project& project) {
  if (normalized_name(facts.metadata_name) != normalized_name(project.package))
    return "its METADATA is of '" + facts.metadata_name + "', not " + project.package +
           (project.is_pytorch() ? "" : "; check [project] package");
  if (facts.metadata_version != build.version)
    return "its METADATA says version " + facts.metadata_version + ", the file name " +
           build.version;
  return std::nullopt;
}

std::variant<Proved, Unproved> prove(const Build& build, const Sha256& file_sha256,
                                     const WheelFacts& facts, const git::CommitGraph& graph,
                                     const Config::Repository& branches, const Project& project) {
  if (build.sha256 && *build.sha256 != file_sha256)
    return Unproved{"the index says SHA-256 " + build.sha256->brief() + "..., the file has " +
                    file_sha256.brief() + "..."};
  if (auto unproved = versions_disagree(build, facts, project)) return *std::move(unproved);
  if (project.version_file.empty()) return prove_by_name(build, graph, branches);
  if (const auto reason = variant_disagrees(build.variant, facts.version_file))
    return Unproved{*reason};
  const std::string written = facts.version_file.git_version.value_or("");
  const auto git_version = CommitSha::parse(written);
  if (!git_version)
    return Unproved{project.version_file + " has the git_version '" + written + "', no commit"};
  const auto commit = graph.find(*git_version);
  if (!commit)
    return Unproved{"git_version " + git_version->brief() + " is on neither " + branches.main +
                    " nor " + branches.nightly + " of " + branches.url};
  if (const auto release = git::parse_nightly_release(commit->subject)) {
    if (const auto reason = release_disagrees(*commit, *release, build, graph, branches))
      return Unproved{*reason};
    return Proved{release->main_commit, *git_version};
  }
  if (!on_branch(graph, *git_version, branches.main))
    return Unproved{"git_version " + git_version->brief() + " (" + commit->subject +
                    ") is neither a nightly release nor on " + branches.main};
  return Proved{*git_version, *git_version};
}

std::variant<Proved, Unproved> prove_ci(const Build& build, const CommitSha& head,
                                        const WheelFacts& facts, const git::CommitGraph& graph,
                                        const Config::Repository& branches,
                                        const NativeStateOf& native_state) {
  const Project pytorch;  // nobody else's CI is asked
  if (auto unproved = versions_disagree(build, facts, pytorch)) return *std::move(unproved);
  if (const auto reason = variant_disagrees(build.variant, facts.version_file))
    return Unproved{*reason};
  const auto version = parse_version(build.version);
  if (!version || !names_commit(version->variant, head))
    return Unproved{"its version " + build.version + " does not name " + head.brief() +
                    ", the head of the run that uploaded it"};
  if (!on_branch(graph, head, branches.main))
    return Unproved{head.brief() + ", the head of the run that uploaded it, is not on " +
                    branches.main};
  const std::string written = facts.version_file.git_version.value_or("");
  const auto git_version = CommitSha::parse(written);
  if (!git_version)
    return Unproved{"torch/version.py has the git_version '" + written + "', no commit"};
  if (*git_version == head) return Proved{head, head};
  if (!graph.find(*git_version) || !on_branch(graph, *git_version, branches.main))
    return Unproved{"git_version " + git_version->brief() + " is not on " + branches.main};
  const auto compiled = native_state(*git_version), wanted = native_state(head);
  if (!compiled || !wanted)
    return Unproved{"it was compiled from " + git_version->brief() + ", not from " + head.brief() +
                    ", and their native states are not known"};
  if (*compiled != *wanted)
    return Unproved{"it was compiled from " + git_version->brief() +
                    ", whose native state is not that of " + head.brief()};
  return Proved{head, *git_version};
}

}  // namespace nightjar::service
