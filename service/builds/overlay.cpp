#include "service/builds/overlay.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <system_error>
#include <tuple>

#include "service/builds/overlay_archive.hpp"
#include "service/builds/packages.hpp"
#include "service/builds/wheel_name.hpp"
#include "storage/base/foreign_text.hpp"

namespace nightjar::service {

namespace {

std::string url_of(const Sha256& sha256) {
  return "/api/v1/artifacts/" + sha256.str();
}

// Whether a path of the repository may be named in a job, an archive's list and on a page.
bool is_plain(const std::string& path) {
  return path == one_line(path);
}

// Which files are laid over a wheel of one commit to get another's.
class Layers {
 public:
  Layers(const git::CommitGraph& graph, const CommitSha& base, const CommitSha& commit,
         const Project& project)
      : before_(graph, base), after_(graph, commit), project_(project) {}

  void take(const git::ChangedPath& change) {
    place(change.path, change.kind != git::ChangedPath::Kind::deleted);
    // A folder that becomes a package, or is one no longer, takes what lies below with it.
    const std::string_view init = "__init__.py";
    if (change.kind == git::ChangedPath::Kind::modified || !change.path.ends_with("/__init__.py"))
      return;
    const std::string folder = change.path.substr(0, change.path.size() - init.size());
    for (const std::string& path : after_.below(folder))
      if (classify(path, project_) == PathEffect::python) place(path, true);
  }
  void write_to(OverlayPlan& plan) const {
    plan.files.assign(files_.begin(), files_.end());
    plan.removed.assign(removed_.begin(), removed_.end());
  }

 private:
  void place(const std::string& path, bool is_there) {
    if (!is_plain(path)) return;  // nothing can import it
    if (is_there && after_.installs(path))
      files_.insert(path);
    else if (before_.installs(path))
      removed_.insert(installed_path(path, project_));
  }

  Packages before_, after_;
  const Project& project_;
  std::set<std::string> files_, removed_;
};

std::variant<OverlayPlan, NoOverlay> plan_over(const git::CommitGraph& graph, const Build& base,
                                               const CommitSha& commit, const Project& project,
                                               OverlayUse use) {
  if (base.state != BuildState::proved || !base.commit || !base.sha256)
    return NoOverlay{"build " + base.version + " is not proved"};
  OverlayPlan plan{base, commit, {}, {}, false};
  Layers layers(graph, *base.commit, commit, project);
  for (const git::ChangedPath& change : graph.changed_paths(*base.commit, commit)) {
    const PathEffect effect = classify(change.path, project);
    if (effect != PathEffect::none && !is_plain(change.path))
      return NoOverlay{one_line(change.path) + " has a name that is no plain text"};
    const bool header = effect == PathEffect::header;
    if (effect == PathEffect::native || (header && use == OverlayUse::any_workload))
      return NoOverlay{change.path + " differs from " + base.version + " and needs a native build"};
    if (effect == PathEffect::none) continue;
    plan.headers |= header;
    layers.take(change);
  }
  layers.write_to(plan);
  return plan;
}

// What makes one plan better than another: the smaller is.
auto cost_of(const git::CommitGraph& graph, const OverlayPlan& plan) {
  const auto base = graph.find(*plan.base.commit), commit = graph.find(plan.commit);
  const auto apart = base && commit ? base->committed_at - commit->committed_at : Time::duration{};
  return std::tuple(plan.headers, plan.files.size() + plan.removed.size(),
                    apart < Time::duration{} ? -apart : apart);
}

}  // namespace

OverlayUse overlay_use(const WorkloadName& workload) {
  return workload.suite() == "native" ? OverlayUse::native_workload : OverlayUse::any_workload;
}

std::variant<OverlayPlan, NoOverlay> plan_overlay(const git::CommitGraph& graph,
                                                  std::span<const Build> bases,
                                                  const CommitSha& commit, const Project& project,
                                                  OverlayUse use) {
  std::optional<OverlayPlan> best;
  std::string reasons;
  for (const Build& base : bases) {
    auto candidate = plan_over(graph, base, commit, project, use);
    if (auto* plan = std::get_if<OverlayPlan>(&candidate)) {
      if (!best || cost_of(graph, *plan) < cost_of(graph, *best)) best = std::move(*plan);
    } else {
      reasons += (reasons.empty() ? "" : "; ") + std::get<NoOverlay>(candidate).reason;
    }
  }
  if (best) return *best;
  return NoOverlay{reasons.empty() ? "there is no build to lay it over" : reasons};
}

Build make_overlay(const git::CommitGraph& graph, const OverlayPlan& plan, const Project& project,
                   Artifacts& artifacts, const Clock& clock) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& path : plan.files) {
    auto content = graph.file(plan.commit, path);
    if (!content)
      throw std::runtime_error("cannot lay commit " + plan.commit.brief() + " over " +
                               plan.base.version + ": it has no file " + path);
    files.emplace_back(installed_path(path, project), std::move(*content));
  }
  std::sort(files.begin(), files.end());
  const std::filesystem::path archive = artifacts.temporary();
  write_overlay(archive, files, plan.removed);
  Build build;
  build.kind = BuildKind::overlay;
  build.version = plan.base.version + "+" + plan.commit.brief();
  build.variant = plan.base.variant;
  build.commit = plan.commit;
  build.sha256 = artifacts.add(archive);
  build.base = plan.base.id;
  build.state = BuildState::proved;
  build.found_at = clock.now();
  return build;
}

EnvironmentSpec environment_of(const Build& wheel, const Project& project) {
  const bool is_wheel = wheel.kind != BuildKind::overlay && wheel.kind != BuildKind::crossed;
  if (!is_wheel || wheel.state != BuildState::proved || !wheel.sha256)
    throw std::invalid_argument("build " + wheel.version + " is no proved wheel to measure");
  const bool says_commit = project.is_pytorch() && wheel.nightly_commit;
  EnvironmentSpec spec{wheel.id,
                       url_of(*wheel.sha256),
                       file_name_of(wheel.url),
                       *wheel.sha256,
                       std::nullopt,
                       wheel.version,
                       says_commit ? wheel.nightly_commit->str() : "",
                       project.module};
  if (wheel.lock) spec.lock = lock_spec(*wheel.lock);
  return spec;
}

LockSpec lock_spec(const Sha256& lock) {
  return {"/api/v1/locks/" + lock.str(), lock};
}

Build cross(const Build& wheel, const Sha256& lock, const Clock& clock) {
  Build crossed;
  crossed.kind = BuildKind::crossed;
  crossed.version = wheel.version + "@" + lock.brief();
  crossed.variant = wheel.variant;
  crossed.commit = wheel.commit;
  crossed.nightly_commit = wheel.nightly_commit;
  crossed.sha256 = wheel.sha256;
  crossed.base = wheel.id;
  crossed.state = BuildState::proved;
  crossed.found_at = clock.now();
  crossed.needs = wheel.needs;
  crossed.lock = lock;
  return crossed;
}

EnvironmentSpec environment_of_crossed(const Build& crossed, const Build& wheel,
                                       const Project& project) {
  if (crossed.kind != BuildKind::crossed || crossed.base != wheel.id || !crossed.lock)
    throw std::invalid_argument("build " + crossed.version + " is no " + wheel.version +
                                " with other packages");
  EnvironmentSpec spec = environment_of(wheel, project);
  spec.build = crossed.id;
  spec.lock = lock_spec(*crossed.lock);
  return spec;
}

EnvironmentSpec environment_of(const Build& overlay, const Build& base, const Artifacts& artifacts,
                               const Project& project) {
  if (overlay.kind != BuildKind::overlay || !overlay.sha256 || overlay.base != base.id)
    throw std::invalid_argument("build " + overlay.version + " is no overlay of " + base.version);
  const auto archive = artifacts.find(*overlay.sha256);
  if (!archive)
    throw std::runtime_error("the archive of " + overlay.version +
                             " is not among the artifacts any more; make it again");
  EnvironmentSpec spec = environment_of(base, project);
  spec.build = overlay.id;
  spec.overlay = OverlaySpec{url_of(*overlay.sha256), *overlay.sha256, removed_by(*archive)};
  return spec;
}

}  // namespace nightjar::service
