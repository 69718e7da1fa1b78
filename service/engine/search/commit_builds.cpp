#include "service/engine/search/commit_builds.hpp"

#include <algorithm>
#include <map>

#include "service/builds/artifacts.hpp"
#include "service/builds/needs.hpp"
#include "service/engine/policy.hpp"
#include "storage/builds.hpp"
#include "storage/runners.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

bool is_last(const Bisection& bisection, int index) {
  return index + 1 == static_cast<int>(bisection.commits.size());
}

// What decides which wheels serve the commits of one search.
struct Needed {
  OverlayUse use = OverlayUse::any_workload;
  std::map<std::string, std::string> machine;  // facts of the class that measures
  std::string variant;
  // Where an end is an overlay of it, the only one for the commits that it serves.
  std::optional<BuildId> wheel = {};
};

Needed needed_by(const EngineView& view, const Bisection& bisection) {
  Needed needed;
  needed.variant = variant_of(view, bisection.good);
  if (const auto bad = storage::find_build(view.db, bisection.bad);
      bad && bad->kind == BuildKind::overlay)
    needed.wheel = bad->base;
  const auto series = storage::find_series(view.db, bisection.series);
  if (!series) return needed;
  needed.use = overlay_use(series->workload_name);
  if (const auto machine = storage::find_machine(view.db, series->machine))
    needed.machine = machine->facts;
  return needed;
}

const CommitSha& commit_at(const Bisection& bisection, int index) {
  return bisection.commits.at(static_cast<std::size_t>(index));
}

// Wheels that an overlay of the commit may lie on, their files here or not.
std::vector<Build> wheels_of_group(const EngineView& view, const CommitSha& commit,
                                   const Needed& needed) {
  const auto state = storage::find_commit_state(view.db, commit, path_rules(view.config.project));
  if (!state) return {};
  return needed.use == OverlayUse::native_workload
             ? storage::wheels_of_same_libraries(view.db, needed.variant, *state)
             : storage::wheels_of_native_group(view.db, needed.variant, *state);
}

bool is_held(const EngineView& view, const Build& wheel) {
  return wheel.sha256 && view.artifacts.holds(*wheel.sha256);
}

// Returns those that are here and that the machine class can run.
std::vector<Build> usable_wheels(const EngineView& view, const CommitSha& commit,
                                 const Needed& needed) {
  std::vector<Build> wheels = wheels_of_group(view, commit, needed);
  std::erase_if(wheels, [&](const Build& wheel) {
    return !is_held(view, wheel) || cannot_run(wheel.needs, needed.machine);
  });
  const auto one = std::find_if(wheels.begin(), wheels.end(),
                                [&](const Build& wheel) { return wheel.id == needed.wheel; });
  if (one != wheels.end()) return {*one};
  return wheels;
}

// The overlay that was made over one of these wheels.
std::optional<Build> stored_overlay(const EngineView& view, const CommitSha& commit,
                                    const Needed& needed, const std::vector<Build>& wheels) {
  for (const Build& overlay : storage::overlays_of_commit(view.db, commit, needed.variant))
    for (const Build& wheel : wheels)
      if (overlay.base == wheel.id) return overlay;
  return std::nullopt;
}

CommitBuild with_environment(const EngineView& view, const Build& overlay,
                             const std::optional<LockSpec>& lock) {
  const auto base = storage::find_build(view.db, *overlay.base);
  CommitBuild build{overlay.id,
                    environment_of(overlay, *base, view.artifacts, view.config.project)};
  build.environment.lock = lock;
  return build;
}

// Where the wheels differ, the bad end's files over the good wheel are the end of the search.
CommitBuildState laid_end(const EngineView& view, const Build& end, const Build& wheel,
                          const std::optional<LockSpec>& lock, OverlayUse use) {
  if (view.artifacts.holds(*end.sha256)) return with_environment(view, end, lock);
  auto plan = plan_overlay(view.graph, {&wheel, 1}, *end.commit, view.config.project, use);
  if (auto* none = std::get_if<NoOverlay>(&plan)) return NoBuild{std::move(none->reason)};
  return OverlayToMake{std::get<OverlayPlan>(std::move(plan)), lock};
}

// An end, which may be a wheel with other packages than its own, or an overlay.
CommitBuildState end_of_search(const EngineView& view, const Build& end,
                               const std::optional<LockSpec>& lock, OverlayUse use) {
  const Project& project = view.config.project;
  const auto wheel = end.base ? storage::find_build(view.db, *end.base) : std::nullopt;
  if (!wheel) return CommitBuild{end.id, environment_of(end, project)};
  if (end.kind == BuildKind::overlay) return laid_end(view, end, *wheel, lock, use);
  return CommitBuild{end.id, environment_of_crossed(end, *wheel, project)};
}

// The wheel that an end lies on; nullopt between the ends.
std::optional<Build> own_wheel(const EngineView& view, const Bisection& bisection, int index) {
  if (index != 0 && !is_last(bisection, index)) return std::nullopt;
  auto end = storage::find_build(view.db, index == 0 ? bisection.good : bisection.bad);
  if (end && end->base) end = storage::find_build(view.db, *end->base);
  return end;
}

// Why none of these wheels of the commit's native group serves it; there is at least one.
std::string none_serves(const std::vector<Build>& group, const Needed& needed) {
  const auto lost = std::find_if(group.begin(), group.end(), [&](const Build& wheel) {
    return !cannot_run(wheel.needs, needed.machine);
  });
  if (lost == group.end())
    return group.front().version + ", a wheel of its native group, cannot run on this machine " +
           "class: " + *cannot_run(group.front().needs, needed.machine);
  return "the file of " + lost->version + ", a wheel of its native group, is not here any more" +
         (lost->kind == BuildKind::source ? "" : "; it is fetched again");
}

// Says what was looked for, where, and what stands in the way of the ends.
NoBuild nothing_found(const EngineView& view, const Bisection& bisection, const CommitSha& commit,
                      const Needed& needed) {
  const std::string& variant = needed.variant;
  const auto state = storage::find_commit_state(view.db, commit, path_rules(view.config.project));
  if (!state) return {"the repository's copy does not have commit " + commit.brief()};
  const Sha256& wanted = needed.use == OverlayUse::native_workload ? state->library : state->native;
  const auto group = wheels_of_group(view, commit, needed);
  if (!group.empty()) return {none_serves(group, needed)};
  std::vector<Build> ends;
  for (const BuildId id : {bisection.good, bisection.bad})
    if (auto end = storage::find_build(view.db, id)) ends.push_back(*std::move(end));
  const auto plan = plan_overlay(view.graph, ends, commit, view.config.project, needed.use);
  const auto* none = std::get_if<NoOverlay>(&plan);
  return {"none of the " + std::to_string(storage::proved_wheels(view.db, variant).size()) +
          " proved wheels of variant " + variant + " here (nightly, ci, source) is of its native " +
          "group " + wanted.brief() + (none ? "; " + none->reason : "")};
}

}  // namespace

bool is_built(const EngineView& view, const Bisection& bisection, int index) {
  if (index == 0 || is_last(bisection, index)) return true;
  const CommitSha& commit = commit_at(bisection, index);
  const Needed needed = needed_by(view, bisection);
  const auto wheels = usable_wheels(view, commit, needed);
  return stored_overlay(view, commit, needed, wheels).has_value() ||
         std::any_of(wheels.begin(), wheels.end(),
                     [&](const Build& wheel) { return wheel.commit == commit; });
}

std::vector<Build> wheels_of_commit(const EngineView& view, const Bisection& bisection, int index) {
  const CommitSha& commit = commit_at(bisection, index);
  std::vector<Build> wheels = usable_wheels(view, commit, needed_by(view, bisection));
  const auto good = storage::find_build(view.db, bisection.good);
  const auto own = own_wheel(view, bisection, index);
  // Another wheel as it is would be measured with packages of its own.
  std::erase_if(wheels, [&](const Build& wheel) {
    const bool as_it_is = wheel.commit == commit && wheel.lock && good && wheel.lock != good->lock;
    return as_it_is || (own && wheel.id == own->id);
  });
  if (own) wheels.insert(wheels.begin(), *own);
  return wheels;
}

bool has_build(const EngineView& view, const Bisection& bisection, int index) {
  const CommitSha& commit = commit_at(bisection, index);
  return !usable_wheels(view, commit, needed_by(view, bisection)).empty();
}

std::optional<Build> lost_wheel(const EngineView& view, const Bisection& bisection, int index) {
  const Needed needed = needed_by(view, bisection);
  auto wheels = wheels_of_group(view, commit_at(bisection, index), needed);
  std::erase_if(wheels,
                [&](const Build& wheel) { return cannot_run(wheel.needs, needed.machine); });
  const auto held = [&](const Build& wheel) { return is_held(view, wheel); };
  if (wheels.empty() || std::any_of(wheels.begin(), wheels.end(), held)) return std::nullopt;
  return wheels.front();
}

CommitBuildState find_commit_build(const EngineView& view, const Bisection& bisection, int index,
                                   std::optional<BuildId> wheel) {
  const Project& project = view.config.project;
  const auto good = storage::find_build(view.db, bisection.good);
  const auto bad = storage::find_build(view.db, bisection.bad);
  if (!good || !bad) return NoBuild{"one of the ends is not stored any more"};
  const std::optional<LockSpec> lock =
      good->lock ? std::optional(lock_spec(*good->lock)) : std::nullopt;
  const Needed needed = needed_by(view, bisection);
  const auto own = own_wheel(view, bisection, index);
  if (own && (!wheel || *wheel == own->id))
    return end_of_search(view, index == 0 ? *good : *bad, lock, needed.use);
  const CommitSha& commit = commit_at(bisection, index);
  std::vector<Build> wheels = usable_wheels(view, commit, needed);
  std::erase_if(wheels, [&](const Build& one) { return wheel && one.id != *wheel; });
  const auto known = stored_overlay(view, commit, needed, wheels);
  if (known && view.artifacts.holds(*known->sha256)) return with_environment(view, *known, lock);
  auto found = plan_overlay(view.graph, wheels, commit, project, needed.use);
  if (std::holds_alternative<NoOverlay>(found))
    return nothing_found(view, bisection, commit, needed);
  OverlayPlan& plan = std::get<OverlayPlan>(found);
  if (plan.base.commit != commit) return OverlayToMake{std::move(plan), lock};
  CommitBuild build{plan.base.id, environment_of(plan.base, project)};
  build.environment.lock = lock;
  return build;
}

CommitBuild made(EngineContext& context, storage::Transaction& transaction,
                 const CommitBuildState& state) {
  const auto* missing = std::get_if<OverlayToMake>(&state);
  if (!missing) return std::get<CommitBuild>(state);
  const Build overlay = make_overlay(context.graph, missing->plan, context.config.project,
                                     context.artifacts, context.clock);
  return with_environment(context, storage::add_build(transaction, overlay), missing->lock);
}

}  // namespace nightjar::service
