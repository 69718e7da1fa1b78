#include "service/engine/search/commit_builds.hpp"

#include "storage/builds.hpp"

namespace nightjar::service {
namespace {

bool is_last(const Bisection& bisection, int index) {
  return index + 1 == static_cast<int>(bisection.commits.size());
}

std::optional<Build> stored_overlay(const EngineView& view, const CommitSha& commit) {
  return storage::find_build_of_commit(view.db, commit, view.config.source.variant,
                                       BuildKind::overlay);
}

CommitBuild with_environment(const EngineView& view, const Build& overlay) {
  const auto base = storage::find_build(view.db, *overlay.base);
  return {overlay.id, environment_of(overlay, *base, view.artifacts)};
}

}  // namespace

bool is_built(const EngineView& view, const Bisection& bisection, int index) {
  return index == 0 || is_last(bisection, index) ||
         stored_overlay(view, bisection.commits[static_cast<std::size_t>(index)]).has_value();
}

CommitBuildState find_commit_build(const EngineView& view, const Bisection& bisection, int index) {
  const auto good = storage::find_build(view.db, bisection.good);
  const auto bad = storage::find_build(view.db, bisection.bad);
  if (!good || !bad) return NoBuild{"one of the ends is not stored any more"};
  if (index == 0) return CommitBuild{good->id, environment_of(*good)};
  if (is_last(bisection, index)) return CommitBuild{bad->id, environment_of(*bad)};
  const CommitSha& commit = bisection.commits[static_cast<std::size_t>(index)];
  auto known = stored_overlay(view, commit);
  if (known && view.artifacts.holds(*known->sha256)) return with_environment(view, *known);
  const Build bases[] = {*good, *bad};
  auto plan = plan_overlay(view.graph, bases, commit);
  if (const auto* none = std::get_if<NoOverlay>(&plan)) return NoBuild{none->reason};
  return OverlayToMake{std::get<OverlayPlan>(std::move(plan)), std::move(known)};
}

CommitBuild made(EngineContext& context, storage::Transaction& transaction,
                 const CommitBuildState& state) {
  const auto* missing = std::get_if<OverlayToMake>(&state);
  if (!missing) return std::get<CommitBuild>(state);
  const Build overlay =
      make_overlay(context.graph, missing->plan, context.artifacts, context.clock);
  return with_environment(
      context, missing->known ? *missing->known : storage::add_build(transaction, overlay));
}

}  // namespace nightjar::service
