#include "service/engine/verdict/histories.hpp"

#include <algorithm>
#include <limits>

#include "bisect/evidence/evidence.hpp"
#include "bisect/statistics.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/imports.hpp"
#include "storage/model/history.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

constexpr int at_once = 20;  // series of a round, so that requests get their turn

// One level where values have no ratio.
bisect::Levels judged(const HistoryFacts& facts) {
  const bool positive = std::all_of(facts.medians.begin(), facts.medians.end(),
                                    [](double median) { return median > 0; });
  if (!positive || facts.policy.repeatability == Repeatability::slope)
    return bisect::Levels{{0}, 0, {}, {}, {}, false};
  return bisect::find_levels(bisect::positions_of(facts.medians), facts.policy);
}

// The location of each level, from its first build on.
std::vector<Level> levels_of(const HistoryFacts& facts, const std::vector<int>& level_begins) {
  const std::vector<std::size_t> begins(level_begins.begin(), level_begins.end());
  std::vector<Level> levels;
  for (std::size_t i = 0; i < begins.size() && begins[i] < facts.medians.size(); ++i) {
    const auto from = facts.medians.begin() + static_cast<std::ptrdiff_t>(begins[i]);
    const auto to = i + 1 < begins.size()
                        ? facts.medians.begin() + static_cast<std::ptrdiff_t>(begins[i + 1])
                        : facts.medians.end();
    const std::vector<double> stretch(from, to);
    levels.push_back({facts.series.id, facts.builds[begins[i]], facts.nights[begins[i]],
                      bisect::median(stretch), static_cast<int>(stretch.size())});
  }
  return levels;
}

Regression regression_of(const HistoryFacts& facts, const bisect::Change& change) {
  const auto at = static_cast<std::size_t>(change.position);
  Regression regression;
  regression.found_by = FoundBy::history;
  const auto until = static_cast<std::size_t>(change.until);
  regression.night = facts.nights[until];
  regression.machine = facts.series.machine;
  regression.good = facts.builds[at - 1];
  regression.bad = facts.builds[until];
  regression.series = {{facts.series.id, change.before, change.after, change.ratio.ratio,
                        change.ratio.low, change.ratio.high}};
  regression.opened_at = facts.now;
  return regression;
}

// A change is known by the build before it. Where it is a climb of several steps, more nights may
// move its end.
BuildId before(const HistoryFacts& facts, const bisect::Change& change) {
  return facts.builds[static_cast<std::size_t>(change.position) - 1];
}

void add_worse(HistoryVerdict& verdict, const HistoryFacts& facts, const bisect::Change& change) {
  Regression regression = regression_of(facts, change);
  const auto known =
      std::find_if(facts.known.begin(), facts.known.end(),
                   [&](const Regression& one) { return one.good == regression.good; });
  if (known != facts.known.end()) {
    if (known->state == RegressionState::historical) return;
    regression.id = known->id;
    regression.night = known->night;
    regression.opened_at = known->opened_at;
  }
  verdict.opened.push_back(
      {std::move(regression),
       evidence::of_history(change, {facts.builds, facts.medians}, facts.policy)});
}

void apply(EngineContext& context, const HistoryFacts& facts, const HistoryVerdict& verdict) {
  storage::Transaction transaction(context.db);
  for (const Finding& found : verdict.opened) {
    const RegressionChange change{RegressionState::historical, facts.now, found.evidence};
    if (found.regression.id)
      storage::change_regression(transaction, found.regression, change);
    else
      storage::add_regression(transaction, found.regression, change);
  }
  const Evidence gone = evidence::of_reason("with more nights the step is no longer found");
  for (const Regression& regression : verdict.dismissed)
    storage::change_regression(transaction, regression,
                               {RegressionState::dismissed, facts.now, gone});
  for (const std::int64_t id : verdict.gone) storage::delete_improvement(transaction, id);
  for (const storage::Improvement& one : verdict.improvements)
    storage::add_improvement(transaction, one);
  storage::clear_levels(transaction, facts.series.id);
  for (const Level& level : verdict.levels) storage::set_level(transaction, level);
  storage::note_judged(transaction, facts.series.id);
  transaction.commit();
  for (const Regression& one : storage::findings_of_history(context.db, facts.series.id))
    if (one.updated_at == facts.now) announce(context, one, one.state);
}

}  // namespace

HistoryFacts load_history(const EngineView& view, const Series& series) {
  HistoryFacts facts{series, learned_policy(view, series), {}, {}, {}, {}, {}, view.clock.now()};
  const auto nights = storage::imported_nights(view.db, series.machine);
  constexpr int all = std::numeric_limits<int>::max();
  const auto points = storage::points_of_series(view.db, series.id, all);
  const auto is_release = [](const storage::SeriesPoint& point) {
    return release_in_version(point.version).has_value();
  };
  // A release that was imported beside nightlies is a reference, and no night of their history.
  const bool has_nightlies = !std::all_of(points.begin(), points.end(), is_release);
  for (const auto& point : points) {
    if (has_nightlies && is_release(point)) continue;
    facts.medians.push_back(bisect::median(point.values));
    facts.builds.push_back(point.build);
    facts.nights.push_back(nights.at(point.build));
  }
  facts.known = storage::findings_of_history(view.db, series.id);
  facts.improvements = storage::improvements_of(view.db, series.id);
  return facts;
}

HistoryVerdict decide(const HistoryFacts& facts) {
  HistoryVerdict verdict;
  const bisect::Levels levels = judged(facts);
  verdict.levels = levels_of(facts, levels.begins);
  std::vector<BuildId> worse, better;
  for (const bisect::Change& change : levels.changes) {
    const auto at = static_cast<std::size_t>(change.position);
    if (change.worse) {
      worse.push_back(before(facts, change));
      add_worse(verdict, facts, change);
      continue;
    }
    better.push_back(facts.builds[at]);
    verdict.improvements.push_back({0, facts.nights[at], facts.series.id, facts.builds[at],
                                    change.before, change.after, facts.now});
  }
  const auto holds = [](const std::vector<BuildId>& builds, BuildId build) {
    return std::find(builds.begin(), builds.end(), build) != builds.end();
  };
  for (const Regression& known : facts.known)
    if (known.state == RegressionState::historical && !holds(worse, known.good))
      verdict.dismissed.push_back(known);
  for (const storage::Improvement& known : facts.improvements)
    if (!holds(better, known.build)) verdict.gone.push_back(known.id);
  return verdict;
}

bool judge_histories(EngineContext& context) {
  std::vector<Series> waiting;
  const auto is_ready = [&](MachineId machine) {
    return !context.importing || !context.importing->holds(machine);
  };
  for (const SeriesId id : storage::series_to_judge(context.db, at_once, is_ready))
    waiting.push_back(storage::find_series(context.db, id).value());
  return for_each_item(context, "history of series", waiting, [&](const Series& series) {
    const HistoryFacts facts = load_history(context, series);
    apply(context, facts, decide(facts));
    return true;
  });
}

}  // namespace nightjar::service
