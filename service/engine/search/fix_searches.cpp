#include "service/engine/search/fix_searches.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "service/engine/verdict/levels.hpp"
#include "storage/base/log.hpp"
#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/digests.hpp"
#include "storage/fixes.hpp"
#include "storage/model/metric.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {
using storage::Improvement;

bool searches_fixes(const Config& config) {
  return config.search_fixes && config.report.fixes > 0;
}

// How much better it is, as a multiple of the smallest change that its search can explain.
double clarity_of(const EngineView& view, const Series& series, const Improvement& one) {
  return -std::log(worsening(series, one.before, one.after)) /
         std::log1p(search_threshold(view, series));
}

// The clearest improvement of each machine class. A failure is the lead only if nothing else got
// better: no confirmation has told of which kind it was.
std::map<MachineId, FixToSearch> leads_of(const EngineView& view,
                                          const std::vector<Improvement>& improvements) {
  std::map<MachineId, FixToSearch> leads;
  std::map<MachineId, double> clearest;
  for (const Improvement& one : improvements) {
    const auto series = storage::find_series(view.db, one.series);
    if (!series) continue;
    const bool is_failure = series->metric == failures_metric;
    const double clarity = clarity_of(view, *series, one);
    const auto known = leads.find(series->machine);
    const bool is_better =
        known == leads.end() || (known->second.is_failure && !is_failure) ||
        (known->second.is_failure == is_failure && clarity > clearest.at(series->machine));
    if (!is_better) continue;
    leads.insert_or_assign(
        series->machine,
        FixToSearch{one.build, series->machine, one, is_failure, {}, {}, {}, false});
    clearest[series->machine] = clarity;
  }
  return leads;
}

void load_ends(const EngineView& view, FixToSearch& fix) {
  const auto before = build_before(view, fix.lead);
  if (before) fix.before = storage::find_build(view.db, *before);
  fix.after = storage::find_build(view.db, fix.id);
}

void load_range(const EngineView& view, FixToSearch& fix) {
  if (!fix.before || !fix.after || !fix.before->commit || !fix.after->commit) return;
  const auto range = view.graph.range(*fix.before->commit, *fix.after->commit);
  if (!range || range->empty()) return;
  fix.commits.emplace();
  for (const git::Commit& commit : *range) fix.commits->push_back(commit.sha);
}

// Machine classes on which a fix is searched already.
std::set<MachineId> searched_classes(const EngineView& view) {
  std::set<MachineId> classes;
  for (const Bisection& search : storage::open_bisections(view.db))
    if (const auto series =
            search.fix ? storage::find_series(view.db, search.series) : std::nullopt)
      classes.insert(series->machine);
  return classes;
}

std::optional<FixNotSearched> why_not(const FixToSearch& facts) {
  if (facts.is_failure) return FixNotSearched::no_series;
  if (!facts.commits) return FixNotSearched::no_range;
  if (facts.before->lock != facts.after->lock) return FixNotSearched::packages_differ;
  return std::nullopt;
}

void apply(EngineContext& context, const OpenFixSearch& step) {
  storage::Transaction transaction(context.db);
  Bisection search = step.search;
  search.fix = storage::add_fix_search(transaction, step.fix).id;
  search = storage::add_bisection(transaction, search);
  transaction.commit();
  announce(context, search, "opened");
}

void apply(EngineContext& context, const LeaveFix& step) {
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::add_fix_search(transaction, step.fix);
  });
  log::info("fix is not searched build={} machine={} why={}", step.fix.build.value,
            step.fix.machine.value, name_of(*step.fix.not_searched));
}

}  // namespace

bool regressions_wait(const EngineView& view, MachineId machine) {
  using enum RegressionState;
  for (const RegressionState state : {suspected, confirmed, bisecting}) {
    const auto waiting = storage::regressions_in_state(view.db, state);
    if (std::any_of(waiting.begin(), waiting.end(),
                    [&](const Regression& one) { return one.machine == machine; }))
      return true;
  }
  return false;
}

std::optional<BuildId> build_before(const EngineView& view, const Improvement& improvement) {
  // Its own level is the newest before the night that showed it for the second time.
  for (const Level& level :
       storage::levels_before(view.db, improvement.series, improvement.night, 2))
    if (level.build != improvement.build) return level.build;
  return std::nullopt;
}

std::vector<FixToSearch> load_fixes_to_search(const EngineView& view) {
  std::vector<FixToSearch> list;
  if (!searches_fixes(view.config)) return list;
  const Time since = view.clock.now() - fix_patience;
  const auto fixes = storage::untold_fixes(view.db, since, view.config.report.fixes);
  if (fixes.empty()) return list;
  std::set<MachineId> busy = searched_classes(view);
  for (const auto& [build, improvements] : fixes)
    for (auto& [machine, fix] : leads_of(view, improvements)) {
      if (storage::fix_search_of(view.db, build, machine)) continue;
      fix.waits = !busy.insert(machine).second || regressions_wait(view, machine);
      load_ends(view, fix);
      if (!fix.waits) load_range(view, fix);
      list.push_back(std::move(fix));
    }
  return list;
}

std::optional<std::variant<OpenFixSearch, LeaveFix>> decide(const FixToSearch& facts, Time now) {
  if (facts.waits) return std::nullopt;
  FixSearch fix;
  fix.night = facts.lead.night;
  fix.machine = facts.machine;
  if (facts.before) fix.before = facts.before->id;
  fix.build = facts.id;
  fix.series = facts.lead.series;
  fix.opened_at = now;
  fix.not_searched = why_not(facts);
  if (fix.not_searched) return LeaveFix{std::move(fix)};
  Bisection search;
  search.series = fix.series;
  search.good = facts.before->id;
  search.bad = fix.build;
  search.commits = {*facts.before->commit};
  search.commits.insert(search.commits.end(), facts.commits->begin(), facts.commits->end());
  search.started_at = now;
  return OpenFixSearch{std::move(fix), std::move(search)};
}

bool start_fix_searches(EngineContext& context) {
  return for_each_item(context, "search for the fix of build", load_fixes_to_search(context),
                       [&](const FixToSearch& facts) {
                         const auto step = decide(facts, context.clock.now());
                         if (step)
                           std::visit([&](const auto& taken) { apply(context, taken); }, *step);
                         return step.has_value();
                       });
}

std::vector<NamedCause> named_by(const FixSearch& fix) {
  std::vector<NamedCause> named;
  std::copy_if(fix.causes.begin(), fix.causes.end(), std::back_inserter(named),
               [](const NamedCause& cause) { return !cause.is_range; });
  return named.empty() ? fix.causes : named;
}

bool awaits_search(const EngineView& view, const std::vector<Improvement>& improvements) {
  if (!searches_fixes(view.config)) return false;
  if (view.clock.now() - improvements.front().at >= fix_patience) return false;
  std::set<MachineId> classes;
  for (const Improvement& one : improvements)
    if (const auto series = storage::find_series(view.db, one.series))
      classes.insert(series->machine);
  return std::any_of(classes.begin(), classes.end(), [&](MachineId machine) {
    const auto fix = storage::fix_search_of(view.db, improvements.front().build, machine);
    if (!fix) return true;
    const auto search = storage::bisection_of(view.db, fix->id);
    return search && search->state == BisectionState::open;
  });
}

}  // namespace nightjar::service
