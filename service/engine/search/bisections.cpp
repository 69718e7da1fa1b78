#include "service/engine/search/bisections.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "bisect/evidence/evidence.hpp"
#include "service/builds/artifacts.hpp"
#include "service/builds/overlay.hpp"
#include "service/engine/policy.hpp"
#include "service/engine/search/blame.hpp"
#include "service/engine/search/commit_builds.hpp"
#include "service/engine/search/costs.hpp"
#include "service/engine/search/fix_searches.hpp"
#include "service/engine/search/naming.hpp"
#include "service/engine/search/package_searches.hpp"
#include "service/engine/search/search_jobs.hpp"
#include "service/engine/search/withdrawal.hpp"
#include "service/engine/verdict/expected_results.hpp"
#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/fixes.hpp"
#include "storage/jobs.hpp"
#include "storage/locks.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

constexpr double known_culprit_mass = .5;  // prior share of commits that this night blamed already
constexpr auto longest_fetch = std::chrono::hours(6);  // of a wheel that is not here any more

// How far the effect stands out of its interval: the clearest is searched first.
double clarity(const Regression& regression) {
  const AffectedSeries& lead = regression.series.front();
  const double width = std::log(lead.high / lead.low);
  return std::log(lead.ratio) / std::max(width, 1e-3);
}

std::set<CommitSha> blamed_already(const EngineView& view, const SearchedChange& change) {
  std::set<CommitSha> blamed;
  if (change.is_better()) return blamed;
  for (const Regression& other : storage::regressions_of_night(view.db, change.night))
    if (other.machine == change.machine && other.culprit)
      blamed.insert(other.culprit->commits.begin(), other.culprit->commits.end());
  return blamed;
}

// By risk, and half of the mass on what this night blamed already: one cause often shows in several
// series, and those commits' builds exist.
std::vector<double> prior_of(const EngineView& view, const Bisection& bisection,
                             const SearchedChange& change) {
  std::vector<git::Commit> commits;
  if (const auto range = view.graph.range(bisection.commits.front(), bisection.commits.back()))
    commits = *range;
  if (commits.size() + 1 != bisection.commits.size()) return {};
  std::vector<double> prior = risk_prior(view.graph, commits, view.config.project);
  const std::set<CommitSha> blamed = blamed_already(view, change);
  double known = 0, rest = 0;
  for (std::size_t i = 0; i < prior.size(); ++i)
    (blamed.count(commits[i].sha) ? known : rest) += prior[i];
  if (known > 0 && rest > 0)
    for (std::size_t i = 0; i < prior.size(); ++i)
      prior[i] *= blamed.count(commits[i].sha) ? known_culprit_mass / known
                                               : (1 - known_culprit_mass) / rest;
  return prior;
}

std::vector<int> built_commits(const EngineView& view, const Bisection& bisection) {
  std::vector<int> built;
  for (int i = 1; i + 1 < static_cast<int>(bisection.commits.size()); ++i)
    if (is_built(view, bisection, i)) built.push_back(i);
  return built;
}

std::optional<std::variant<Regression, FixSearch>> load_searched(const EngineView& view,
                                                                 const Bisection& search) {
  if (search.fix) return storage::find_fix_search(view.db, *search.fix);
  return storage::find_regression(view.db, search.regression.value());
}

// The wheel of an older good end may have to be fetched again, for which a search waits a while.
bool awaits_wheel(const EngineView& view, const Bisection& search, const SearchLimits& limits) {
  if (!limits.widened_at || view.clock.now() - *limits.widened_at > longest_fetch) return false;
  const auto good = storage::find_build(view.db, search.good);
  return good && good->sha256 && !view.artifacts.holds(*good->sha256);
}

// What builders could not make is not asked for again.
void note_failed_builds(const std::vector<Prospect>& prospects, SearchProgress& progress) {
  for (std::size_t i = 0; i < prospects.size(); ++i) {
    const auto* failed = std::get_if<CannotBeBuilt>(&prospects[i]);
    const int commit = static_cast<int>(i);
    if (failed && progress.causes.emplace(commit, failed->cause).second)
      progress.newly_untestable.push_back({commit, failed->cause, failed->reason});
  }
}

// How many commits of the answer's ranges CI may still have a wheel of.
int awaited_in_range(const bisect::Answer& answer, const SearchFacts& facts) {
  int commits = 0;
  for (const evidence::NamedEnd& end : evidence::ends_of(answer, facts.naming))
    if (end.is_range)
      for (int commit = end.step.first; commit <= end.step.last; ++commit)
        commits += static_cast<int>(facts.awaited.count(commit));
  return commits;
}

void end(storage::Transaction& transaction, Bisection search, BisectionState state, Time now) {
  search.state = state;
  search.finished_at = now;
  storage::update_bisection(transaction, search);
}

void add_untestable(storage::Transaction& transaction, const SearchFacts& facts) {
  for (const Untestable& commit : facts.progress.newly_untestable)
    storage::add_untestable(transaction, facts.search.id, commit);
}

// A range that was found before stands as long as nothing better is found.
RegressionState state_without_culprit(const Regression& regression, bisect::SearchOutcome outcome,
                                      const Config& config) {
  if (outcome == bisect::SearchOutcome::not_reproduced) return RegressionState::dismissed;
  if (regression.range) return RegressionState::range;
  return outcome == bisect::SearchOutcome::below_threshold ? RegressionState::inconclusive
                                                           : unnamed_state(config);
}

// A search of natively different ends found that only their wheels differ. What the confirmation
// told of the packages stands; all else is the wheel's.
void note_wheel_as_cause(storage::Transaction& transaction, const Regression& regression) {
  const AffectedSeries& lead = regression.series.front();
  const auto before = storage::attribution_of(transaction, regression.id);
  Attribution found = before.value_or(Attribution{});
  found.cause = has_environment(found.cause) ? Cause::environment_and_wheel : Cause::wheel;
  if (!found.wheel) found.wheel = before ? found.source : Part{lead.ratio, lead.low, lead.high};
  found.source = {};
  storage::set_attribution(transaction, regression.id, found);
}

// In the caller's transaction, like all that ends a search.
void give_up(storage::Transaction& transaction, const Regression& regression, const GiveUp& step,
             const Config& config, Time now) {
  const RegressionState state =
      state_without_culprit(regression, bisect::SearchOutcome::inconclusive, config);
  storage::change_regression(transaction, regression,
                             {state, now, evidence::of_reason(step.reason)});
}

// Nothing but its own rows: a fix has no regression, no level and no issue of a regression.
void end_fix(storage::Transaction& transaction, FixSearch fix, std::vector<NamedCause> causes,
             const Evidence& evidence) {
  fix.causes = std::move(causes);
  fix.evidence = evidence.text;
  storage::end_fix_search(transaction, fix);
}

bool apply(EngineContext& context, const SearchFacts& facts, const Bisection& search,
           const GiveUp& step) {
  const Time now = context.clock.now();
  storage::Transaction transaction(context.db);
  add_untestable(transaction, facts);
  end(transaction, search, BisectionState::inconclusive, now);
  if (const auto* fix = std::get_if<FixSearch>(&facts.of))
    end_fix(transaction, *fix, {}, evidence::of_reason(step.reason));
  else
    give_up(transaction, std::get<Regression>(facts.of), step, context.config, now);
  transaction.commit();
  announce(context, search, step.reason);
  return true;
}

// What is below the threshold is real: a new level begins, and the next nights do not ask again.
void end_without_culprit(storage::Transaction& transaction, const SearchFacts& facts,
                         Regression regression, const Conclude& step, const Config& config,
                         Time now) {
  const RegressionState state = state_without_culprit(regression, step.answer.outcome, config);
  if (state == RegressionState::dismissed) {
    withdraw_issue(transaction, regression.id,
                   facts.limits.widened_at
                       ? "The search was taken up again, and the change was not reproduced. "
                         "Nobody is blamed."
                       : "Builds of more commits became available, and the change was not "
                         "reproduced with them. Nobody is blamed.",
                   now);
    regression.range.reset();
  }
  if (step.answer.outcome == bisect::SearchOutcome::wheel)
    note_wheel_as_cause(transaction, regression);
  storage::change_regression(transaction, regression, {state, now, step.evidence});
}

// Whether the search named a step, be it a commit or only a range.
bool names(const bisect::Answer& answer) {
  return answer.outcome == bisect::SearchOutcome::culprit ||
         answer.outcome == bisect::SearchOutcome::several_small;
}

BisectionState state_after(const bisect::Answer& answer, const evidence::Naming& naming) {
  if (answer.outcome == bisect::SearchOutcome::not_reproduced)
    return BisectionState::not_reproduced;
  if (!names(answer)) return BisectionState::inconclusive;
  const auto word = evidence::outcome_word(answer, evidence::ends_of(answer, naming));
  return word == name_of(BisectionState::range) ? BisectionState::range : BisectionState::culprit;
}

// The answer, the search's end and the regression's change of state are one transaction.
bool conclude(EngineContext& context, const SearchFacts& facts, const Regression& regression,
              const Bisection& search, const Conclude& step) {
  const Time now = context.clock.now();
  std::vector<Blame> blamed;
  if (names(step.answer))
    blamed = decide(load_blame(context, regression, search, step.answer, facts.naming));
  storage::Transaction transaction(context.db);
  add_untestable(transaction, facts);
  end(transaction, search, state_after(step.answer, facts.naming), now);
  if (names(step.answer))
    store(transaction, regression, blamed, step.evidence, now);
  else
    end_without_culprit(transaction, facts, regression, step, context.config, now);
  transaction.commit();
  announce(context, blamed);
  return true;
}

// What the wheels may have made better is nobody's.
bisect::Answer isolated_part(bisect::Answer answer) {
  std::erase_if(answer.culprits, [](const bisect::NamedStep& step) { return !step.isolated; });
  return answer;
}

bool conclude(EngineContext& context, const SearchFacts& facts, const FixSearch& fix,
              const Bisection& search, const Conclude& step) {
  std::vector<NamedCause> causes;
  if (names(step.answer)) causes = named_causes(isolated_part(step.answer), search, facts.naming);
  storage::Transaction transaction(context.db);
  add_untestable(transaction, facts);
  end(transaction, search, state_after(step.answer, facts.naming), context.clock.now());
  end_fix(transaction, fix, std::move(causes), step.evidence);
  transaction.commit();
  return true;
}

bool apply(EngineContext& context, const SearchFacts& facts, const Bisection& search,
           const Conclude& step) {
  std::visit([&](const auto& of) { conclude(context, facts, of, search, step); }, facts.of);
  announce(context, search, step.answer.rule);
  return true;
}

bool apply(EngineContext& context, const SearchFacts& facts, const Bisection& search,
           const bisect::Measure& step) {
  const StepFacts wanted =
      load_step(context, search, expecting(context, facts.series, facts.change.night),
                facts.prospects, facts.wheels, step);
  const StepPlan plan = plan_step(wanted, facts.progress, context.clock.now());
  if (plan.is_empty() && facts.progress.newly_untestable.empty()) return false;
  storage::Transaction transaction(context.db);
  add_untestable(transaction, facts);
  storage::update_bisection(transaction, search);
  queue_step(context, transaction, search, facts.change, facts.series, wanted, plan);
  transaction.commit();
  announce(context, search, "step");
  return true;
}

bool apply(EngineContext& context, const SearchFacts& facts, const Bisection& search,
           const AwaitCi&) {
  if (facts.progress.newly_untestable.empty()) return false;
  storage::Transaction transaction(context.db);
  add_untestable(transaction, facts);
  storage::update_bisection(transaction, search);
  transaction.commit();
  return true;
}

bool advance(EngineContext& context, const Bisection& search) {
  const auto facts = load_search(context, search);
  if (!facts) return false;
  const auto next = decide(*facts);
  if (!next) return false;
  return std::visit([&](const auto& step) { return apply(context, *facts, next->search, step); },
                    next->step);
}

bool open(EngineContext& context, const OpeningFacts& facts, const OpenSearch& step) {
  storage::Transaction transaction(context.db);
  const Bisection search = storage::add_bisection(transaction, step.search);
  const std::size_t commits = search.commits.size() - 1;
  storage::change_regression(
      transaction, facts.regression,
      {RegressionState::bisecting, search.started_at,
       evidence::of_reason("searching " + std::to_string(commits) + " commits")});
  transaction.commit();
  announce(context, search, "opened");
  return true;
}

bool open(EngineContext& context, const OpeningFacts& facts, const CannotSearch& step) {
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::change_regression(
        transaction, facts.regression,
        {unnamed_state(context.config), context.clock.now(), evidence::of_reason(step.reason)});
  });
  return true;
}

}  // namespace

WaitingFacts load_waiting(const EngineView& view) {
  using enum RegressionState;
  return {storage::regressions_in_state(view.db, confirmed),
          storage::regressions_in_state(view.db, suspected),
          storage::regressions_in_state(view.db, bisecting)};
}

std::vector<Regression> next_to_search(const WaitingFacts& facts) {
  using Key = std::pair<NightId, MachineId>;
  std::set<Key> busy;
  for (const Regression& running : facts.bisecting) busy.emplace(running.night, running.machine);
  for (const Regression& undecided : facts.suspected)  // first know all that is to be explained
    busy.emplace(undecided.night, undecided.machine);
  std::map<Key, Regression> clearest;
  for (const Regression& waiting : facts.confirmed) {
    const Key key{waiting.night, waiting.machine};
    if (busy.count(key)) continue;
    const auto [best, is_new] = clearest.emplace(key, waiting);
    if (!is_new && clarity(waiting) > clarity(best->second)) best->second = waiting;
  }
  std::vector<Regression> next;
  for (auto& [key, regression] : clearest) next.push_back(std::move(regression));
  return next;
}

OpeningFacts load_opening(const EngineView& view, const Regression& regression) {
  OpeningFacts facts{regression, {}, {}, {}};
  if (const auto whose = storage::attribution_of(view.db, regression.id)) facts.held = whose->held;
  const auto good = storage::find_build(view.db, regression.good);
  const auto bad = storage::find_build(view.db, regression.bad);
  if (!good || !bad || !good->commit || !bad->commit) return facts;
  facts.good = good->commit;
  const auto range = view.graph.range(*good->commit, *bad->commit);
  if (!range) return facts;
  facts.commits.emplace();
  for (const git::Commit& commit : *range) facts.commits->push_back(commit.sha);
  return facts;
}

std::variant<OpenSearch, CannotSearch> decide(const OpeningFacts& facts, Time now) {
  if (!facts.commits || facts.commits->empty())
    return CannotSearch{
        "the builds' commits do not follow one another on the main branch: the cause may lie in "
        "what they were built with"};
  Bisection search;
  search.regression = facts.regression.id;
  search.series = facts.regression.series.front().series;
  search.good = facts.regression.good;
  search.bad = facts.held.value_or(facts.regression.bad);
  search.commits = {*facts.good};
  search.commits.insert(search.commits.end(), facts.commits->begin(), facts.commits->end());
  search.started_at = now;
  return OpenSearch{std::move(search)};
}

bool start_bisections(EngineContext& context) {
  const auto start = [&](const Regression& regression) {
    const OpeningFacts facts = load_opening(context, regression);
    const auto step = decide(facts, context.clock.now());
    return std::visit([&](const auto& taken) { return open(context, facts, taken); }, step);
  };
  auto waiting = next_to_search(load_waiting(context));
  std::erase_if(waiting, [&](const Regression& regression) {
    return waits_for_packages(context.db, regression);
  });
  return for_each_item(context, "search for regression", waiting, start);
}

std::optional<SearchFacts> load_search(const EngineView& view, const Bisection& search) {
  const auto series = storage::find_series(view.db, search.series);
  if (!series) return std::nullopt;
  return load_search(view, search, limits_of(view, search, *series));
}

std::optional<SearchFacts> load_search(const EngineView& view, const Bisection& search,
                                       const SearchLimits& limits) {
  auto of = load_searched(view, search);
  auto series = storage::find_series(view.db, search.series);
  if (!of || !series) return std::nullopt;
  SearchedChange change =
      std::visit([](const auto& searched) { return SearchedChange(searched); }, *of);
  SearchFacts facts{search, *std::move(of),
                    change, *std::move(series),
                    limits, {},
                    {},     {},
                    {},     {},
                    {},     {},
                    {},     {},
                    {}};
  facts.pending = is_measuring(view.db, search) || awaits_wheel(view, search, limits) ||
                  (facts.change.is_better() && regressions_wait(view, facts.change.machine));
  if (facts.pending) return facts;
  SearchRuns runs = load_runs(view.db, search, facts.change, facts.series);
  facts.progress = load_progress(view.db, search, facts.change, runs, facts.series,
                                 limits.widened_at.value_or(Time{}));
  facts.prospects = load_prospects(view, search);
  facts.awaited = awaited_of_ci(view, search, facts.prospects);
  note_failed_builds(facts.prospects, facts.progress);
  facts.naming = naming_of(view, search, runs, facts.progress);
  facts.policy = policy_for(view, facts.change.machine, facts.series);
  facts.policy.threshold = limits.threshold;
  facts.policy.max_runs = limits.max_runs;
  const CostFacts costs = load_costs(view, search, runs, facts.series, facts.prospects);
  facts.wheels = load_wheels(view, search, runs, facts.progress);
  add_wheels(facts.wheels, runs.wheels, runs.log);
  facts.runs = std::move(runs.runs);
  facts.log =
      in_cost(std::move(runs.log), facts.series, facts.policy.threshold, facts.change.is_better());
  for (const auto& [commit, cause] : facts.progress.causes) facts.log.untestable.push_back(commit);
  facts.log.prior = prior_of(view, search, facts.change);
  facts.log.built = built_commits(view, search);
  add_costs(costs, view.clock.now(), facts.log, facts.policy);
  return facts;
}

std::optional<SearchStep> decide(const SearchFacts& facts) {
  if (facts.pending) return std::nullopt;
  SearchStep out{facts.search, {}};
  NextOfSearch next =
      next_of(out.search, facts.log, facts.policy, facts.progress, facts.limits.minutes);
  if (auto* end = std::get_if<GiveUp>(&next.step)) {
    out.step = std::move(*end);
    return out;
  }
  if (auto* measure = std::get_if<bisect::Measure>(&next.step)) {
    out.step = std::move(*measure);
    return out;
  }
  const bisect::Answer& answer = std::get<bisect::Answer>(next.step);
  if (const int commits = awaited_in_range(answer, facts); commits > 0) {
    out.step = AwaitCi{commits};
    return out;
  }
  evidence::SearchInput input{facts.log, facts.policy, facts.runs, facts.search.commits,
                              &facts.naming};
  input.wheels = facts.wheels.builds;
  if (facts.limits.widened_at) input.good_end = facts.search.good;
  input.is_better = facts.change.is_better();
  out.search.outcome = answer.outcome;
  out.search.found = evidence::named_steps(answer, facts.naming);
  out.step = Conclude{answer, evidence::of_search(answer, next.belief, input)};
  return out;
}

bool advance_bisections(EngineContext& context) {
  return for_each_item(context, "bisection", storage::open_bisections(context.db),
                       [&](const Bisection& search) { return advance(context, search); });
}

}  // namespace nightjar::service
