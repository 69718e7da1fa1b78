#include "service/engine/search/commit_builds.hpp"

#include "service/builds/overlay.hpp"
#include "storage/builds.hpp"

namespace nightjar::service {
namespace {

std::optional<Build> stored_overlay(EngineContext& context, const CommitSha& commit,
                                    const std::string& variant) {
  return storage::find_build_of_commit(context.db, commit, variant, BuildKind::overlay);
}

CommitBuild with_environment(EngineContext& context, const Build& overlay) {
  const auto base = storage::find_build(context.db, *overlay.base);
  return {overlay.id, environment_of(overlay, *base, context.artifacts)};
}

}  // namespace

bool is_built(EngineContext& context, const Bisection& bisection, int index) {
  if (index == 0 || index + 1 == static_cast<int>(bisection.commits.size())) return true;
  return stored_overlay(context, bisection.commits[static_cast<std::size_t>(index)],
                        context.config.source.variant)
      .has_value();
}

std::variant<CommitBuild, NoBuild> build_of_commit(EngineContext& context,
                                                   const Bisection& bisection, int index) {
  const auto good = storage::find_build(context.db, bisection.good);
  const auto bad = storage::find_build(context.db, bisection.bad);
  if (!good || !bad) return NoBuild{"one of the ends is not stored any more"};
  if (index == 0) return CommitBuild{good->id, environment_of(*good)};
  if (index + 1 == static_cast<int>(bisection.commits.size()))
    return CommitBuild{bad->id, environment_of(*bad)};
  const CommitSha& commit = bisection.commits[static_cast<std::size_t>(index)];
  const auto known = stored_overlay(context, commit, context.config.source.variant);
  if (known && context.artifacts.holds(*known->sha256)) return with_environment(context, *known);

  const Build bases[] = {*good, *bad};
  const auto plan = plan_overlay(context.graph, bases, commit);
  if (const auto* none = std::get_if<NoOverlay>(&plan)) return NoBuild{none->reason};
  const Build made =
      make_overlay(context.graph, std::get<OverlayPlan>(plan), context.artifacts, context.clock);
  if (known) return with_environment(context, *known);
  return with_environment(context,
                          storage::write(context.db, [&](storage::Transaction& transaction) {
                            return storage::add_build(transaction, made);
                          }));
}

}  // namespace nightjar::service
