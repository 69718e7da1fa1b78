#include "service/engine/verdict/wheel_crossing.hpp"

#include "service/builds/artifacts.hpp"
#include "storage/builds.hpp"

namespace nightjar::service {
namespace {

bool is_proved_wheel(const Build& build) {
  return !build.base && build.commit && build.sha256 && build.state == BuildState::proved;
}

std::optional<LaidEnd> laid_over(const EngineView& view, const Build& wheel,
                                 const CommitSha& commit, OverlayUse use) {
  auto found = plan_overlay(view.graph, {&wheel, 1}, commit, view.config.project, use);
  auto* plan = std::get_if<OverlayPlan>(&found);
  if (!plan) return std::nullopt;
  LaidEnd end{std::move(*plan), {}};
  for (Build& stored : storage::overlays_of_commit(view.db, commit, wheel.variant))
    if (!end.build.id && stored.base == wheel.id) end.build = std::move(stored);
  return end;
}

}  // namespace

std::optional<WheelCrossing> wheel_crossing(const EngineView& view, const Build& good,
                                            const Build& bad, OverlayUse use) {
  if (!is_proved_wheel(good) || !is_proved_wheel(bad) || good.sha256 == bad.sha256)
    return std::nullopt;
  auto source = laid_over(view, good, *bad.commit, use);
  auto wheel = source ? laid_over(view, bad, *good.commit, use) : std::nullopt;
  if (!wheel) return std::nullopt;
  const bool same = source->plan.files.empty() && source->plan.removed.empty();
  return WheelCrossing{*std::move(source), *std::move(wheel), same};
}

EnvironmentSpec laid_environment(EngineContext& context, storage::Transaction& transaction,
                                 const LaidEnd& end, const std::optional<Sha256>& lock) {
  const Project& project = context.config.project;
  Build build = end.build;
  if (!build.id || !context.artifacts.holds(*build.sha256))
    build = storage::add_build(transaction, make_overlay(context.graph, end.plan, project,
                                                         context.artifacts, context.clock));
  EnvironmentSpec spec = environment_of(build, end.plan.base, context.artifacts, project);
  spec.lock = lock ? std::optional(lock_spec(*lock)) : std::nullopt;
  return spec;
}

}  // namespace nightjar::service
