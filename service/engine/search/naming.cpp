#include "service/engine/search/naming.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "bisect/evidence/evidence.hpp"
#include "service/builds/overlay.hpp"
#include "storage/builds.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

using States = std::vector<std::optional<CommitState>>;  // by position

// Positions between a measured commit and its wheel's commit whose native state is another than the
// commit's before; the whole search if the wheel's commit is not in it.
evidence::Libraries libraries_of(const CommitState& wheel, int commit, const States& states) {
  const int end = static_cast<int>(states.size()) - 1;
  const auto& own = states.at(static_cast<std::size_t>(commit));
  if (own && own->native == wheel.native) return {wheel.native, 0, -1};
  const auto found = std::find_if(states.begin(), states.end(), [&](const auto& state) {
    return state && state->commit == wheel.commit;
  });
  evidence::Libraries from{wheel.native, 1, end};
  if (found == states.end()) return from;
  const int at = static_cast<int>(found - states.begin());
  std::tie(from.first, from.last) = std::minmax(at, commit);
  ++from.first;
  const auto is_change = [&](int position) {
    const auto& before = states.at(static_cast<std::size_t>(position) - 1);
    const auto& after = states.at(static_cast<std::size_t>(position));
    return !before || !after || before->native != after->native;
  };
  while (from.first < from.last && !is_change(from.first)) ++from.first;
  while (from.first < from.last && !is_change(from.last)) --from.last;
  return from;
}

// The state of the wheel whose libraries a build has.
std::optional<CommitState> wheel_state(const EngineView& view, BuildId id) {
  auto build = storage::find_build(view.db, id);
  if (build && build->base) build = storage::find_build(view.db, *build->base);
  if (!build || !build->commit) return std::nullopt;
  return storage::find_commit_state(view.db, *build->commit, path_rules(view.config.project));
}

std::map<int, evidence::Libraries> all_libraries(const EngineView& view, const Bisection& bisection,
                                                 const SearchRuns& runs) {
  States states;
  for (const CommitSha& commit : bisection.commits)
    states.push_back(storage::find_commit_state(view.db, commit, path_rules(view.config.project)));
  std::map<int, evidence::Libraries> libraries;
  for (const auto& [commit, build] : runs.builds)
    if (const auto wheel = wheel_state(view, build))
      libraries.emplace(commit, libraries_of(*wheel, commit, states));
  return libraries;
}

}  // namespace

evidence::Naming naming_of(const EngineView& view, const Bisection& bisection,
                           const SearchRuns& runs, const SearchProgress& progress) {
  evidence::Naming naming;
  naming.max_named = view.config.max_named;
  naming.causes = progress.causes;
  const auto series = storage::find_series(view.db, bisection.series);
  if (!series || overlay_use(series->workload_name) != OverlayUse::native_workload) return naming;
  const auto libraries = all_libraries(view, bisection, runs);
  const bool any_laid_over = std::any_of(libraries.begin(), libraries.end(), [](const auto& entry) {
    return entry.second.last >= entry.second.first;
  });
  if (any_laid_over) naming.libraries = libraries;
  return naming;
}

std::vector<NamedCause> named_causes(const bisect::Answer& answer, const Bisection& bisection,
                                     const evidence::Naming& naming) {
  std::vector<NamedCause> causes;
  for (const evidence::NamedEnd& end : evidence::ends_of(answer, naming)) {
    const bisect::NamedStep& step = end.step;
    causes.push_back({{evidence::cell_commits(step.first, step.last, bisection.commits),
                       step.probability, step.ratio, step.low, step.high},
                      end.is_range});
  }
  return causes;
}

}  // namespace nightjar::service
