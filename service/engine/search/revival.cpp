#include "service/engine/search/revival.hpp"

#include <algorithm>
#include <map>

#include "bisect/evidence/evidence.hpp"
#include "service/builds/overlay.hpp"
#include "service/engine/search/commit_builds.hpp"
#include "service/engine/search/prospects.hpp"
#include "storage/bisections.hpp"
#include "storage/regressions.hpp"
#include "storage/served.hpp"

namespace nightjar::service {
namespace {

constexpr auto oldest = std::chrono::days(60);  // an older range is not taken up again

std::set<CommitSha> ranges_of(const EngineView& view, const Regression& regression) {
  std::set<CommitSha> commits;
  for (const Regression& part : storage::regressions_of_night(view.db, regression.night)) {
    const bool same_search = part.bad == regression.bad && part.machine == regression.machine &&
                             part.series.front().series == regression.series.front().series;
    if (same_search && part.range)
      commits.insert(part.range->commits.begin(), part.range->commits.end());
  }
  return commits;
}

using Commits = std::map<BisectionId, std::vector<int>>;

Commits by_search(const std::vector<storage::SearchedCommit>& commits) {
  Commits sorted;
  for (const auto& [search, commit] : commits) sorted[search].push_back(commit);
  return sorted;
}

// The commits that a wheel may serve now, by search.
Commits served_commits(const EngineView& view) {
  const Time since = view.clock.now() - oldest;
  std::vector<storage::SearchedCommit> served;
  for (const Config::Source* source : sources_of(view.config))
    for (const auto& one : storage::commits_with_wheels(view.db, source->variant,
                                                        path_rules(view.config.project), since))
      served.push_back(one);
  return by_search(served);
}

// The commits that may have a build now. With a builder, that is to be asked of each.
Commits candidates(const EngineView& view) {
  if (!view.config.project.recipe_sha256 || live_builders(view) == 0) return served_commits(view);
  return by_search(storage::commits_without_build(view.db, view.clock.now() - oldest));
}

bool is_testable(const EngineView& view, const Bisection& search, int commit) {
  const Prospect prospect = load_prospect(view, search, commit);
  return !std::holds_alternative<HasNoPlace>(prospect);
}

std::optional<SearchToRevive> load_revival(const EngineView& view, BisectionId id,
                                           const std::vector<int>& commits) {
  const auto search = storage::find_bisection(view.db, id);
  if (!search) return std::nullopt;
  SearchToRevive seen{*search, {}, {}, {}};
  if (search->regression) {
    seen.regression = storage::find_regression(view.db, *search->regression);
    if (!seen.regression) return std::nullopt;
    seen.range = ranges_of(view, *seen.regression);
  }
  for (const int commit : commits)
    if (is_testable(view, *search, commit)) seen.testable.push_back(commit);
  return seen;
}

void apply(EngineContext& context, const SearchToRevive& seen, const Revival& revival) {
  storage::Transaction transaction(context.db);
  for (const int commit : revival.commits)
    storage::remove_untestable(transaction, seen.search.id, commit);
  Bisection search = seen.search;
  if (revival.reopens) {
    search.state = BisectionState::open;
    search.finished_at.reset();
    storage::update_bisection(transaction, search);
    storage::change_regression(
        transaction, seen.regression.value(),
        {RegressionState::bisecting, context.clock.now(),
         evidence::of_reason("builds of " + std::to_string(revival.commits.size()) +
                             " commits have become available: the search goes on")});
  }
  transaction.commit();
  announce(context, search, "builds became available");
}

}  // namespace

std::vector<SearchToRevive> load_revivals(const EngineView& view) {
  std::vector<SearchToRevive> all;
  for (const auto& [search, commits] : candidates(view))
    if (auto seen = load_revival(view, search, commits)) all.push_back(*std::move(seen));
  return all;
}

std::optional<Revival> decide(const SearchToRevive& seen) {
  if (seen.testable.empty()) return std::nullopt;
  if (seen.search.state == BisectionState::open) return Revival{seen.testable, false};
  const bool stands = seen.regression && (seen.regression->state == RegressionState::range ||
                                          seen.regression->state == RegressionState::reported);
  const bool helps = std::any_of(seen.testable.begin(), seen.testable.end(), [&](int commit) {
    return seen.range.count(seen.search.commits.at(static_cast<std::size_t>(commit))) != 0;
  });
  if (seen.search.state != BisectionState::range || !stands || !helps) return std::nullopt;
  return Revival{seen.testable, true};
}

bool revive_searches(EngineContext& context) {
  bool changed = false;
  for (const SearchToRevive& seen : load_revivals(context)) {
    const auto revival = decide(seen);
    if (!revival) continue;
    apply(context, seen, *revival);
    changed = true;
  }
  return changed;
}

std::vector<Build> lost_wheels(const EngineView& view) {
  std::vector<Build> wheels;
  for (const auto& [id, commits] : served_commits(view)) {
    const auto search = storage::find_bisection(view.db, id);
    for (const int commit : commits)
      if (auto wheel = lost_wheel(view, *search, commit)) wheels.push_back(*std::move(wheel));
  }
  return wheels;
}

}  // namespace nightjar::service
