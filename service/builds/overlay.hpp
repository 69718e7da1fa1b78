// The overlay rung: a commit's Python files laid over a nightly's environment, when nothing between
// the two needs a compiler. Used by the engine's bisections. All but classify() and risk_prior()
// read git or the disk: call them on the thread that the commit graph belongs to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bisect/git/commit_graph.hpp"
#include "service/builds/artifacts.hpp"
#include "storage/model/build.hpp"
#include "storage/model/job.hpp"

namespace nightjar::service {

// What a changed path does to an installed build. none: documentation, tests, CI, linters. python:
// a file that is installed as it is, so that laying it over is the whole truth. native: all else,
// since what is not known to be harmless may change what is compiled (also torchgen and torch/csrc,
// whose Python generates code at build time).
enum class PathEffect { none, python, native };
PathEffect classify(std::string_view path);

struct OverlayPlan {
  Build base;
  CommitSha commit;
  std::vector<std::string> files;    // paths in the commit and below site-packages alike; sorted
  std::vector<std::string> removed;  // paths below site-packages; sorted
};
struct NoOverlay {
  std::string reason;  // one sentence, names the path that stands in the way
};
// The plan over that one of `bases` (proved builds: the ends of the range) that needs the fewest
// files.
std::variant<OverlayPlan, NoOverlay> plan_overlay(const git::CommitGraph& graph,
                                                  std::span<const Build> bases,
                                                  const CommitSha& commit);
// Writes the archive into the artifacts; the same files give the same SHA-256 whenever and
// wherever. Returns the build, not stored yet: kind overlay, proved. Throws std::runtime_error.
Build make_overlay(const git::CommitGraph& graph, const OverlayPlan& plan, Artifacts& artifacts,
                   const Clock& clock);

// What a runner needs for a proved build that is a wheel.
EnvironmentSpec environment_of(const Build& wheel);
// For an overlay: it keeps its base's torch/version.py, so the base's version is what torch says.
// Throws std::runtime_error if the archive is not among the artifacts: make it again, the hash will
// be the same.
EnvironmentSpec environment_of(const Build& overlay, const Build& base, const Artifacts& artifacts);

// A weight a commit for SearchLog::prior: 1, or .05 where documentation and tests only changed.
// Never zero: what looks harmless has been guilty before.
double risk_prior(std::span<const git::ChangedPath> changed);
std::vector<double> risk_prior(const git::CommitGraph& graph, std::span<const git::Commit> commits);

}  // namespace nightjar::service
