#include "service/engine/search/costs.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "bisect/statistics.hpp"
#include "service/builds/overlay.hpp"
#include "service/engine/policy.hpp"
#include "storage/builds.hpp"
#include "storage/sessions.hpp"
#include "storage/source_builds.hpp"

namespace nightjar::service {
namespace {
using bisect::BuildPlace;
using bisect::PastBuild;

constexpr int newest_results = 20;
constexpr double least_seconds = .1;  // what a clock that stood still is taken for

double seconds_between(Time from, Time to) {
  return std::chrono::duration<double>(to - from).count();
}

void add_session(const Job& job, const SessionResult& result, const Series& series,
                 SessionCosts& sessions) {
  for (const RunResult& run : result.runs) {
    const auto order = static_cast<std::size_t>(run.order);
    if (order >= job.spec.order.size() || job.spec.order[order].is_control()) continue;
    const auto workload = static_cast<std::size_t>(job.spec.order[order].workload);
    if (job.spec.workloads.at(workload).id == series.workload && run.seconds > 0)
      sessions.run_seconds.push_back(run.seconds);
  }
  for (const auto& [key, seconds] : result.setup_seconds)
    for (const EnvironmentSpec& environment : job.spec.environments)
      if (environment.key() == key && seconds > least_seconds)
        sessions.set_up.push_back(
            {environment.overlay ? BuildPlace::overlay : BuildPlace::fetch, seconds});
}

std::vector<int> groups_of(const EngineView& view, const Bisection& search, OverlayUse use) {
  std::map<Sha256, int> numbers;
  std::vector<int> groups;
  for (const CommitSha& commit : search.commits) {
    const auto state = storage::find_commit_state(view.db, commit, path_rules(view.config.project));
    const auto number = [&](const Sha256& hash) {
      return numbers.emplace(hash, static_cast<int>(numbers.size())).first->second;
    };
    groups.push_back(
        !state ? -1 : number(use == OverlayUse::native_workload ? state->library : state->native));
  }
  return groups;
}

// Whether a commit is no wheel's own.
std::vector<bool> overlays_of(const EngineView& view, const Bisection& search) {
  std::set<CommitSha> wheels;
  for (const Build& wheel : storage::proved_wheels(view.db, variant_of(view, search.good)))
    if (wheel.commit) wheels.insert(*wheel.commit);
  std::vector<bool> overlays;
  for (const CommitSha& commit : search.commits) overlays.push_back(!wheels.contains(commit));
  return overlays;
}

int builds_of_others(const EngineView& view, const Bisection& search) {
  std::set<Sha256> own;
  for (const CommitSha& commit : search.commits)
    if (const auto state =
            storage::find_commit_state(view.db, commit, path_rules(view.config.project)))
      own.insert(state->native);
  const auto all = storage::source_builds_under_way(view.db);
  return static_cast<int>(std::count_if(all.begin(), all.end(), [&](const auto& build) {
    return !own.contains(build.native_state);
  }));
}

}  // namespace

SessionCosts load_session_costs(const storage::Database& db, const SearchRuns& runs,
                                const Series& series) {
  SessionCosts sessions;
  for (const LogPart& part : runs.parts)
    if (const auto result = storage::session_of(db, part.job.id))
      add_session(part.job, *result, series, sessions);
  return sessions;
}

CostFacts load_costs(const EngineView& view, const Bisection& search, const SearchRuns& runs,
                     const Series& series, std::vector<Prospect> prospects) {
  CostFacts facts;
  facts.prospects = std::move(prospects);
  facts.groups = groups_of(view, search, overlay_use(series.workload_name));
  facts.is_overlay = overlays_of(view, search);
  SessionCosts sessions = load_session_costs(view.db, runs, series);
  if (const auto& recipe = view.config.project.recipe_sha256)
    for (const SourceResult& made : storage::results_of_recipe(view.db, *recipe, newest_results)) {
      facts.warm = true;
      if (made.seconds > least_seconds)
        sessions.set_up.push_back(
            {made.warm ? BuildPlace::source_warm : BuildPlace::source_cold, made.seconds});
    }
  facts.expected = bisect::expected_build_seconds(sessions.set_up);
  facts.seconds_per_run = sessions.run_seconds.empty() ? view.config.night.run_seconds
                                                       : bisect::median(sessions.run_seconds);
  facts.builders = live_builders(view);
  facts.builds_of_others = builds_of_others(view, search);
  return facts;
}

void add_costs(const CostFacts& facts, Time now, bisect::SearchLog& log,
               bisect::SearchPolicy& policy) {
  const double build =
      facts.expected.of(facts.warm ? BuildPlace::source_warm : BuildPlace::source_cold);
  std::set<int> here{0, log.commits};
  for (const bisect::SearchRun& run : log.runs) here.insert(run.commit);
  std::set<int> building;  // groups
  for (int i = 0; i <= log.commits; ++i) {
    const auto at = static_cast<std::size_t>(i);
    bisect::CommitCost cost;
    cost.group = facts.groups[at];
    if (!here.contains(i))
      cost.prepare_seconds =
          facts.expected.of(facts.is_overlay[at] ? BuildPlace::overlay : BuildPlace::fetch);
    const auto* made = std::get_if<IsBeingBuilt>(&facts.prospects[at]);
    if (made || std::holds_alternative<CanBeBuilt>(facts.prospects[at])) cost.build_seconds = build;
    if (made && building.insert(cost.group).second)
      log.building.push_back({i, std::max(build - seconds_between(made->since, now), 0.)});
    log.costs.push_back(cost);
  }
  policy.seconds_per_run = facts.seconds_per_run;
  // Others' builds are done first. One builder is counted even so: the search is to know that it
  // can ask.
  policy.builders = std::max(facts.builders - facts.builds_of_others, 1);
  policy.runners = policy.builds_at_once;
}

}  // namespace nightjar::service
