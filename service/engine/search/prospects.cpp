#include "service/engine/search/prospects.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "service/builds/overlay.hpp"
#include "service/builds/source_rung.hpp"
#include "service/engine/jobs/live_runners.hpp"
#include "service/engine/policy.hpp"
#include "service/engine/search/commit_builds.hpp"
#include "storage/builds.hpp"
#include "storage/ci_lookups.hpp"

namespace nightjar::service {
namespace {

constexpr int patience = 3;  // failures of the infrastructure that a search waits through
constexpr auto longest_wait = std::chrono::hours(1);  // for answers of CI

struct ToProspect {
  const EngineView& view;
  const Sha256& native_state;

  Prospect operator()(const NotAsked&) const { return CanBeBuilt{native_state}; }
  Prospect operator()(const BeingMade& made) const {
    if (made.failures >= patience) return given_up(made.failures, "it is being built again");
    return IsBeingBuilt{made.since, made.state == JobState::leased};
  }
  Prospect operator()(const MadeFromSource& made) const {
    if (made.build.sha256 && view.artifacts.holds(*made.build.sha256))
      return HasNoPlace{"the wheel that a builder made of it does not serve here"};
    return CanBeBuilt{native_state, true};
  }
  Prospect operator()(const CannotBeMade& made) const {
    const auto cause = made.why == SourceOutcome::does_not_import
                           ? UntestableCause::does_not_import
                           : UntestableCause::does_not_compile;
    return CannotBeBuilt{
        cause, made.reason + "; its log: /api/v1/jobs/" + std::to_string(made.job.value) + "/log"};
  }
  Prospect operator()(const PutOff& off) const {
    if (!off.not_before) return HasNoPlace{"it was not built: " + off.reason};
    if (off.failures >= patience) return given_up(off.failures, off.reason);
    return IsBeingBuilt{*off.not_before, false};
  }

  static HasNoPlace given_up(int failures, const std::string& last) {
    return {"builders failed " + std::to_string(failures) + " times to build it: " + last};
  }
};

Prospect of_builders(const EngineView& view, const std::string& variant, const CommitSha& commit,
                     bool any_builder) {
  const auto& recipe = view.config.project.recipe_sha256;
  if (!recipe) return HasNoPlace{};
  const auto state = storage::find_commit_state(view.db, commit, path_rules(view.config.project));
  if (!state) return HasNoPlace{};
  const BuildOutcome outcome = build_outcome(view.db, state->native, variant, *recipe, commit);
  Prospect prospect = std::visit(ToProspect{view, state->native}, outcome);
  const bool needs_builder = std::holds_alternative<CanBeBuilt>(prospect) ||
                             std::holds_alternative<IsBeingBuilt>(prospect);
  if (needs_builder && !any_builder) return HasNoPlace{"no builder is here"};
  return prospect;
}

Prospect prospect_of(const EngineView& view, const Bisection& search, int index, bool any_builder) {
  const bool is_end = index == 0 || index + 1 == static_cast<int>(search.commits.size());
  if (is_end || has_build(view, search, index)) return HasWheel{};
  return of_builders(view, variant_of(view, search.good),
                     search.commits.at(static_cast<std::size_t>(index)), any_builder);
}

// Whether CI is asked for wheels of the variant, and the search has not waited too long.
bool asks_ci(const EngineView& view, const Bisection& search, const std::string& variant) {
  const Config::Source& source = source_of_variant(view.config, variant);
  return source.variant == variant && !source.ci.environments.empty() &&
         view.clock.now() - search.started_at <= longest_wait;
}

bool is_answered(const CiLookup& lookup) {
  using enum CiLookupState;
  return lookup.state != wanted && lookup.state != found && !lookup.retry_at;
}

}  // namespace

int live_builders(const EngineView& view) {
  const std::vector<Runner> live = live_runners(view);
  return static_cast<int>(std::count_if(live.begin(), live.end(), storage::is_builder));
}

std::vector<Prospect> load_prospects(const EngineView& view, const Bisection& search) {
  const bool any_builder = live_builders(view) > 0;
  std::vector<Prospect> prospects;
  for (int i = 0; i < static_cast<int>(search.commits.size()); ++i)
    prospects.push_back(prospect_of(view, search, i, any_builder));
  return prospects;
}

Prospect load_prospect(const EngineView& view, const Bisection& search, int index) {
  return prospect_of(view, search, index, live_builders(view) > 0);
}

Prospect prospect_of_builders(const EngineView& view, const Bisection& search, int index,
                              bool any_builder) {
  return of_builders(view, variant_of(view, search.good),
                     search.commits.at(static_cast<std::size_t>(index)), any_builder);
}

bool awaits_bridges_of_ci(const EngineView& view, const Bisection& search) {
  const std::string variant = variant_of(view, search.good);
  if (!asks_ci(view, search, variant)) return false;
  return std::any_of(search.commits.begin(), search.commits.end(), [&](const CommitSha& commit) {
    const auto lookup = storage::find_ci_lookup(view.db, commit, variant);
    return lookup && lookup->fetch && !is_answered(*lookup);
  });
}

std::set<int> awaited_of_ci(const EngineView& view, const Bisection& search,
                            const std::vector<Prospect>& prospects) {
  const std::string variant = variant_of(view, search.good);
  if (!asks_ci(view, search, variant)) return {};
  // One commit of a group is looked for at a time, so a group has answered once all have.
  std::map<Sha256, std::set<int>> groups;
  std::set<Sha256> open;
  for (std::size_t i = 0; i < prospects.size(); ++i) {
    const auto state =
        storage::find_commit_state(view.db, search.commits[i], path_rules(view.config.project));
    if (!state) continue;
    if (std::holds_alternative<HasNoPlace>(prospects[i]))
      groups[state->native].insert(static_cast<int>(i));
    const auto lookup = storage::find_ci_lookup(view.db, search.commits[i], variant);
    if (!lookup || !is_answered(*lookup)) open.insert(state->native);
  }
  std::set<int> awaited;
  for (const auto& [state, commits] : groups)
    if (open.contains(state)) awaited.insert(commits.begin(), commits.end());
  return awaited;
}

SourceSpec source_of(const Config& config, const CommitSha& commit) {
  const Project& project = config.project;
  return {project.repository.empty() ? config.repository.url : project.repository, commit,
          project.recipe, project.recipe_sha256.value()};
}

}  // namespace nightjar::service
