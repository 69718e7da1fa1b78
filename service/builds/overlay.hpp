// Overlays: a commit's Python files laid over the wheel of another commit of the same native group.
// Used by the engine's bisections. All but classify() and risk_prior() of paths read git or the
// disk: call them on the thread that the commit graph belongs to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bisect/git/commit_graph.hpp"
#include "service/builds/artifacts.hpp"
#include "service/project.hpp"
#include "storage/model/build.hpp"
#include "storage/model/job.hpp"
#include "storage/model/workload.hpp"

namespace nightjar::service {

// What a changed path does to an installed build. none: documentation, tests, CI, linters. python:
// a file that is installed as it is, Python or package data, so that laying it over is the whole
// truth. header: one of LibTorch's C++ front end; the wheel ships it for programs that are compiled
// against it, and parts of the libraries include it too. native: all else, since what is not known
// to be harmless may change what is compiled (also torchgen and torch/csrc, whose Python generates
// code at build time). PyTorch's paths are known in detail. In another project, Python files
// below its overlay folders are python; documentation, tests and CI are none; all else is native.
enum class PathEffect { none, python, header, native };
PathEffect classify(std::string_view path, const Project& project);
// Where a file of the tree lies below site-packages.
std::string installed_path(std::string_view path, const Project& project);
// The number of the rules that classify() uses, as CommitState keeps it. Projects whose paths are
// classified differently have different numbers, since their native states cannot be compared.
// PyTorch's is 1, and rises when its rules change.
int path_rules(const Project& project);

// What will run on an overlay. A native workload is compiled against the build's headers, so a
// changed header is laid over for it: it is measured as this workload compiled against the new
// headers, with libraries that were compiled against the old ones. To any other workload a changed
// header is a native change.
enum class OverlayUse { any_workload, native_workload };
OverlayUse overlay_use(const WorkloadName& workload);

struct OverlayPlan {
  Build base;
  CommitSha commit;
  std::vector<std::string> files;    // paths in the commit; sorted
  std::vector<std::string> removed;  // paths below site-packages; sorted
  bool headers = false;              // of files or removed: it serves native workloads only
};
struct NoOverlay {
  std::string reason;  // one sentence, names the path that stands in the way
};
// Plans an overlay over the best of `bases` (proved wheels, anywhere in history): one that leaves
// every header as it is, then one that needs the fewest files, then the nearest in time.
std::variant<OverlayPlan, NoOverlay> plan_overlay(const git::CommitGraph& graph,
                                                  std::span<const Build> bases,
                                                  const CommitSha& commit, const Project& project,
                                                  OverlayUse use = OverlayUse::any_workload);
// Writes the archive into the artifacts; the same files always give the same SHA-256. Returns the
// build, not stored yet: kind overlay, proved. Throws std::runtime_error.
Build make_overlay(const git::CommitGraph& graph, const OverlayPlan& plan, const Project& project,
                   Artifacts& artifacts, const Clock& clock);

// What a runner needs for a proved build that is a wheel, with the packages of its lock.
EnvironmentSpec environment_of(const Build& wheel, const Project& project);
// Describes an overlay, which keeps its base's version file: its module has the base's version.
// Throws std::runtime_error if the archive is not among the artifacts: make it again, the hash will
// be the same.
EnvironmentSpec environment_of(const Build& overlay, const Build& base, const Artifacts& artifacts,
                               const Project& project);

// Where runners fetch a lock.
LockSpec lock_spec(const Sha256& lock);
// The wheel with other packages than it was resolved with, not stored yet.
Build cross(const Build& wheel, const Sha256& lock, const Clock& clock);
EnvironmentSpec environment_of_crossed(const Build& crossed, const Build& wheel,
                                       const Project& project);

// A weight a commit for SearchLog::prior: 1, or .05 where documentation and tests only changed.
// Never zero: what looks harmless has been guilty before.
double risk_prior(std::span<const git::ChangedPath> changed, const Project& project);
std::vector<double> risk_prior(const git::CommitGraph& graph, std::span<const git::Commit> commits,
                               const Project& project);

}  // namespace nightjar::service
