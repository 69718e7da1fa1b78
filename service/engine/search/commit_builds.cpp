#include "service/engine/search/commit_builds.hpp"

#include "service/builds/overlay.hpp"
#include "storage/builds.hpp"

namespace nightjar::service {
namespace {

std::optional<Build> stored_overlay(Desk& desk, const CommitSha& commit,
                                    const std::string& variant) {
  return storage::find_build_of_commit(desk.db, commit, variant, BuildKind::overlay);
}

CommitBuild with_environment(Desk& desk, const Build& overlay) {
  const auto base = storage::find_build(desk.db, *overlay.base);
  return {overlay.id, environment_of(overlay, *base, desk.artifacts)};
}

}  // namespace

bool is_built(Desk& desk, const Bisection& bisection, int index) {
  if (index == 0 || index + 1 == static_cast<int>(bisection.commits.size())) return true;
  return stored_overlay(desk, bisection.commits[static_cast<std::size_t>(index)],
                        desk.config.source.variant)
      .has_value();
}

std::variant<CommitBuild, NoBuild> build_of_commit(Desk& desk, const Bisection& bisection,
                                                   int index) {
  const auto good = storage::find_build(desk.db, bisection.good);
  const auto bad = storage::find_build(desk.db, bisection.bad);
  if (!good || !bad) return NoBuild{"one of the ends is not stored any more"};
  if (index == 0) return CommitBuild{good->id, environment_of(*good)};
  if (index + 1 == static_cast<int>(bisection.commits.size()))
    return CommitBuild{bad->id, environment_of(*bad)};
  const CommitSha& commit = bisection.commits[static_cast<std::size_t>(index)];
  const auto known = stored_overlay(desk, commit, desk.config.source.variant);
  if (known && desk.artifacts.holds(*known->sha256)) return with_environment(desk, *known);

  const Build bases[] = {*good, *bad};
  const auto plan = plan_overlay(desk.graph, bases, commit);
  if (const auto* none = std::get_if<NoOverlay>(&plan)) return NoBuild{none->reason};
  const Build made =
      make_overlay(desk.graph, std::get<OverlayPlan>(plan), desk.artifacts, desk.clock);
  if (known) return with_environment(desk, *known);
  return with_environment(desk, storage::write(desk.db, [&](storage::Transaction& transaction) {
                            return storage::add_build(transaction, made);
                          }));
}

}  // namespace nightjar::service
