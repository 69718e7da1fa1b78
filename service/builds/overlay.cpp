#include "service/builds/overlay.hpp"

#include <algorithm>
#include <stdexcept>
#include <system_error>

#include "service/builds/overlay_archive.hpp"
#include "service/builds/wheel_name.hpp"

namespace nightjar::service {

namespace {

std::string url_of(const Sha256& sha256) {
  return "/api/v1/artifacts/" + sha256.str();
}

std::variant<OverlayPlan, NoOverlay> plan_over(const git::CommitGraph& graph, const Build& base,
                                               const CommitSha& commit) {
  if (base.state != BuildState::proved || !base.commit || !base.sha256)
    return NoOverlay{"build " + base.version + " is not proved"};
  OverlayPlan plan{base, commit, {}, {}};
  for (const git::ChangedPath& change : graph.changed_paths(*base.commit, commit)) {
    const PathEffect effect = classify(change.path);
    if (effect == PathEffect::native)
      return NoOverlay{change.path + " differs from " + base.version + " and needs a native build"};
    if (effect == PathEffect::none) continue;
    const bool deleted = change.kind == git::ChangedPath::Kind::deleted;
    (deleted ? plan.removed : plan.files).push_back(change.path);
  }
  std::sort(plan.files.begin(), plan.files.end());
  std::sort(plan.removed.begin(), plan.removed.end());
  return plan;
}

}  // namespace

std::variant<OverlayPlan, NoOverlay> plan_overlay(const git::CommitGraph& graph,
                                                  std::span<const Build> bases,
                                                  const CommitSha& commit) {
  std::optional<OverlayPlan> best;
  std::string reasons;
  const auto size = [](const OverlayPlan& plan) { return plan.files.size() + plan.removed.size(); };
  for (const Build& base : bases) {
    auto candidate = plan_over(graph, base, commit);
    if (auto* plan = std::get_if<OverlayPlan>(&candidate)) {
      if (!best || size(*plan) < size(*best)) best = std::move(*plan);
    } else {
      reasons += (reasons.empty() ? "" : "; ") + std::get<NoOverlay>(candidate).reason;
    }
  }
  if (best) return *best;
  return NoOverlay{reasons.empty() ? "there is no build to lay it over" : reasons};
}

Build make_overlay(const git::CommitGraph& graph, const OverlayPlan& plan, Artifacts& artifacts,
                   const Clock& clock) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& path : plan.files) {
    auto content = graph.file(plan.commit, path);
    if (!content)
      throw std::runtime_error("cannot lay commit " + plan.commit.brief() + " over " +
                               plan.base.version + ": it has no file " + path);
    files.emplace_back(path, std::move(*content));
  }
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

EnvironmentSpec environment_of(const Build& wheel) {
  if (wheel.kind == BuildKind::overlay || wheel.state != BuildState::proved || !wheel.sha256)
    throw std::invalid_argument("build " + wheel.version + " is no proved wheel to measure");
  return EnvironmentSpec{wheel.id,
                         url_of(*wheel.sha256),
                         file_name_of(wheel.url),
                         *wheel.sha256,
                         std::nullopt,
                         wheel.version,
                         wheel.nightly_commit ? wheel.nightly_commit->str() : ""};
}

EnvironmentSpec environment_of(const Build& overlay, const Build& base,
                               const Artifacts& artifacts) {
  if (overlay.kind != BuildKind::overlay || !overlay.sha256 || overlay.base != base.id)
    throw std::invalid_argument("build " + overlay.version + " is no overlay of " + base.version);
  const auto archive = artifacts.find(*overlay.sha256);
  if (!archive)
    throw std::runtime_error("the archive of " + overlay.version +
                             " is not among the artifacts any more; make it again");
  EnvironmentSpec spec = environment_of(base);
  spec.build = overlay.id;
  spec.overlay = OverlaySpec{url_of(*overlay.sha256), *overlay.sha256, removed_by(*archive)};
  return spec;
}

}  // namespace nightjar::service
