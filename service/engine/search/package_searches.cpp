#include "service/engine/search/package_searches.hpp"

#include <algorithm>

#include "bisect/detection.hpp"
#include "bisect/evidence/evidence.hpp"
#include "bisect/search/build_costs.hpp"
#include "bisect/statistics.hpp"
#include "service/builds/overlay.hpp"
#include "service/builds/package_mixes.hpp"
#include "service/engine/jobs/priorities.hpp"
#include "service/engine/jobs/session_check.hpp"
#include "service/engine/policy.hpp"
#include "service/engine/search/bisections.hpp"
#include "service/engine/search/costs.hpp"
#include "service/engine/search/search_jobs.hpp"
#include "service/engine/verdict/confirmations.hpp"
#include "service/engine/verdict/expected_results.hpp"
#include "storage/base/log.hpp"
#include "storage/builds.hpp"
#include "storage/jobs.hpp"
#include "storage/locks.hpp"
#include "storage/package_searches.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"
#include "storage/sessions.hpp"

namespace nightjar::service {
namespace {

PackageMix& mix_at(PackageSearch& search, int position) {
  return search.mixes.at(static_cast<std::size_t>(position));
}

// The environments of a search, all of one wheel.
class MixPositions : public Positions {
 public:
  MixPositions(const storage::Database& db, const PackageSearch& search)
      : db_(db), search_(search) {}

  int of(BuildId id) override {
    const auto [known, is_new] = known_.emplace(id, -1);
    if (is_new) known->second = look_up(id);
    return known->second;
  }
  bool is_the_end(BuildId) const override { return true; }  // an environment is one build
  BuildId wheel_of(BuildId) override { return search_.wheel; }

 private:
  int look_up(BuildId id) const {
    const auto build = storage::find_build(db_, id);
    if (!build || !build->lock || (id != search_.wheel && build->base != search_.wheel)) return -1;
    for (std::size_t i = 0; i < search_.mixes.size(); ++i)
      if (search_.mixes[i].lock == build->lock) return static_cast<int>(i);
    return -1;
  }

  const storage::Database& db_;
  const PackageSearch& search_;
  std::map<BuildId, int> known_;
};

LogSources sources_of(const storage::Database& db, const PackageFacts& facts) {
  LogSources sources{static_cast<int>(facts.search->mixes.size()) - 1, {}, {}};
  for (const PackageSearch& earlier : facts.plan.searches)
    sources.earlier.push_back(storage::jobs_of_package_search(db, earlier.id));
  sources.own = storage::jobs_of_package_search(db, facts.search->id);
  return sources;
}

// What came of measuring them before.
std::map<int, UntestableCause> causes_of(const PackageSearch& search) {
  std::map<int, UntestableCause> causes;
  for (std::size_t i = 0; i < search.mixes.size(); ++i)
    if (const MixState state = search.mixes[i].state;
        state == MixState::does_not_import || state == MixState::does_not_run)
      causes.emplace(static_cast<int>(i), state == MixState::does_not_import
                                              ? UntestableCause::does_not_import
                                              : UntestableCause::does_not_run);
  return causes;
}

void note_untestable(const std::vector<Untestable>& found, PackageSearch& search) {
  for (const Untestable& one : found) {
    PackageMix& mix = mix_at(search, one.commit);
    mix.state = one.cause == UntestableCause::does_not_import ? MixState::does_not_import
                                                              : MixState::does_not_run;
    mix.reason = one.reason;
  }
}

// What has no run yet must be installed first.
void add_costs(const SessionCosts& costs, const PackageSearch& search, bisect::SearchLog& log,
               bisect::SearchPolicy& policy) {
  std::set<int> here;
  for (const bisect::SearchRun& run : log.runs) here.insert(run.commit);
  const double install = bisect::expected_build_seconds(costs.set_up).of(bisect::BuildPlace::fetch);
  for (int i = 0; i <= log.commits; ++i) {
    if (!can_be_measured(search.mixes[static_cast<std::size_t>(i)])) log.untestable.push_back(i);
    if (i > 0 && i < log.commits && here.contains(i)) log.built.push_back(i);
    log.costs.push_back({-1, 0, here.contains(i) ? 0 : install});
  }
  if (!costs.run_seconds.empty()) policy.seconds_per_run = bisect::median(costs.run_seconds);
}

// Fills what the runs of the search under way say.
void load_log(const EngineView& view, PackageFacts& facts) {
  PackageSearch& search = *facts.search;
  const SearchedChange change(facts.plan.regression);
  const LogSources sources = sources_of(view.db, facts);
  MixPositions positions(view.db, search);
  SearchRuns runs = load_runs(view.db, sources, positions, change, facts.series);
  facts.jobs = sources.own.size();
  facts.pending = runs.pending;
  facts.progress = load_progress(view.db, runs, positions, change, facts.series, causes_of(search));
  note_untestable(facts.progress.newly_untestable, search);
  add_costs(load_session_costs(view.db, runs, facts.series), search, runs.log, facts.policy);
  facts.runs = std::move(runs.runs);
  facts.log = in_cost(std::move(runs.log), facts.series, facts.policy.threshold);
}

// Half of the mass on what this night named already: one package often shows in several series.
std::vector<double> prior_of(const EngineView& view, const PackageFacts& facts) {
  const PackageSearch& search = *facts.search;
  if (search.question != PackageQuestion::packages) return {};
  std::set<std::string> named;
  for (const Regression& other :
       storage::regressions_of_night(view.db, facts.plan.regression.night))
    if (other.machine == facts.plan.regression.machine && other.id != facts.plan.regression.id)
      if (const auto cause = cause_among_packages(view.db, other))
        for (const NamedPackage& one : cause->packages) named.insert(one.name);
  std::vector<double> prior(search.mixes.size() - 1, 1);
  double known = 0;
  for (std::size_t i = 0; i < prior.size(); ++i)
    known += named.contains(search.mixes[i + 1].changed.name);
  const double rest = static_cast<double>(prior.size()) - known;
  if (known == 0 || rest == 0) return {};
  for (std::size_t i = 0; i < prior.size(); ++i)
    prior[i] = named.contains(search.mixes[i + 1].changed.name) ? .5 / known : .5 / rest;
  return prior;
}

// The wheel that ran with the packages of both ends: the good one, if it did.
BuildId wheel_of(const EngineView& view, const Regression& regression, const Series& series,
                 const Lock& bad) {
  const auto crossed = storage::crossed_build(view.db, regression.good, bad.sha256);
  if (!crossed) return regression.bad;
  for (const Job& asked : confirmation_jobs(view.db, regression, series)) {
    const SessionOutcome session = outcome_of(view.db, asked);
    if (session.state != SessionOutcome::State::usable) continue;
    for (const SeriesRun& run : storage::runs_of_job(view.db, series.id, session.job.id))
      if (run.build == crossed->id) return regression.good;
  }
  return regression.bad;
}

std::optional<Lock> lock_of(const storage::Database& db, BuildId id) {
  const auto build = storage::find_build(db, id);
  return build && build->lock ? storage::find_lock(db, *build->lock) : std::nullopt;
}

// Returns the changes of pins by commits between the ends.
std::vector<PinChange> pin_changes(const EngineView& view, const Regression& regression) {
  std::vector<PinChange> changes;
  const auto good = storage::find_build(view.db, regression.good);
  const auto bad = storage::find_build(view.db, regression.bad);
  if (!good || !bad || !good->commit || !bad->commit) return changes;
  const auto& pins = view.config.project.pins;
  for (const git::Commit& commit :
       view.graph.range(*good->commit, *bad->commit).value_or(std::vector<git::Commit>{})) {
    if (commit.parents.empty()) continue;
    const CommitSha& before = commit.parents.front();
    for (const git::ChangedPath& changed : view.graph.changed_paths(before, commit.sha))
      if (std::any_of(pins.begin(), pins.end(),
                      [&](const std::string& pin) { return glob_match(pin, changed.path); }))
        changes.push_back({{commit.sha, changed.path},
                           view.graph.file(before, changed.path).value_or(""),
                           view.graph.file(commit.sha, changed.path).value_or("")});
  }
  return changes;
}

// Asks for those of `positions` that nobody has asked for yet; false if there are none.
bool want(PackageSearch& search, const std::vector<int>& positions) {
  bool any = false;
  for (const int position : positions) {
    PackageMix& mix = mix_at(search, position);
    if (mix.state != MixState::unasked) continue;
    mix.state = MixState::wanted;
    any = true;
  }
  return any;
}

EndPackageSearch give_up(PackageSearch search, std::string reason, Time now) {
  search.state = PackageSearchState::unclear;
  search.rule = std::move(reason);
  search.finished_at = now;
  return {std::move(search), std::nullopt};
}

EndPackageSearch conclude(const PackageFacts& facts, PackageSearch search,
                          const bisect::Answer& answer, const bisect::Belief& belief, Time now) {
  search.found = answer.culprits;
  search.state = search.found.empty() ? PackageSearchState::unclear : PackageSearchState::found;
  search.rule = answer.rule;
  search.finished_at = now;
  Evidence evidence =
      evidence::of_packages(answer, belief, {search, facts.log, facts.policy, facts.runs});
  return {std::move(search), std::move(evidence)};
}

// Decides the next step of an open search whose sessions are over.
PackagesStep decide_open(const PackageFacts& facts, const Config& config, Time now) {
  PackageSearch search = *facts.search;
  const int last = static_cast<int>(search.mixes.size()) - 1;
  if (want(search, {0, last})) return AskForLocks{std::move(search)};
  for (const int end : {0, last})
    if (const PackageMix& mix = mix_at(search, end); !can_be_measured(mix))
      return give_up(std::move(search), "an end of the search cannot be measured: " + mix.reason,
                     now);
  NextOfSearch next =
      next_of(search, facts.log, facts.policy, facts.progress, config.search_minutes);
  if (auto* end = std::get_if<GiveUp>(&next.step))
    return give_up(std::move(search), std::move(end->reason), now);
  if (const auto* answer = std::get_if<bisect::Answer>(&next.step))
    return conclude(facts, std::move(search), *answer, next.belief, now);
  const bisect::Measure& measure = std::get<bisect::Measure>(next.step);
  if (want(search, measure.order)) return AskForLocks{std::move(search)};
  return MeasureMixes{std::move(search), measure};
}

void note(storage::Transaction& transaction, const PackageFacts& facts, const Evidence& evidence,
          Time now) {
  storage::change_regression(transaction, facts.plan.regression,
                             {RegressionState::confirmed, now, evidence});
}

bool apply(EngineContext&, const PackageFacts&, const AwaitPackages&) {
  return false;
}

bool apply(EngineContext& context, const PackageFacts&, const AskPackages& step) {
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::add_package_search(transaction, step.search);
  });
  log::info("search among packages regression={} question={} environments={}",
            step.search.regression.value, name_of(step.search.question), step.search.mixes.size());
  return true;
}

bool apply(EngineContext& context, const PackageFacts&, const AskForLocks& step) {
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::update_package_search(transaction, step.search);
  });
  return true;
}

// The wheel with the packages of one environment.
CommitBuild made(EngineContext& context, storage::Transaction& transaction, const Build& wheel,
                 const PackageMix& mix) {
  const Project& project = context.config.project;
  if (mix.lock == wheel.lock) return {wheel.id, environment_of(wheel, project)};
  const auto known = storage::crossed_build(transaction, wheel.id, *mix.lock);
  const Build crossed =
      known ? *known : storage::add_build(transaction, cross(wheel, *mix.lock, context.clock));
  return {crossed.id, environment_of_crossed(crossed, wheel, project)};
}

bool apply(EngineContext& context, const PackageFacts& facts, const MeasureMixes& step) {
  const PackageSearch& search = step.search;
  const Regression& regression = facts.plan.regression;
  const auto wheel = storage::find_build(context.db, search.wheel);
  if (!wheel) throw std::runtime_error("the wheel of the search is not stored any more");
  const Time now = context.clock.now();
  storage::Transaction transaction(context.db);
  storage::update_package_search(transaction, search);
  StepFacts wanted{expecting(context, facts.series, regression.night), facts.jobs,
                   step.step.new_session};
  std::map<Spot, EnvironmentSpec> environments;
  for (const int position : step.step.order) {
    const Spot& spot = wanted.order.emplace_back(Spot{position});
    if (environments.contains(spot)) continue;
    const CommitBuild build =
        made(context, transaction, *wheel, search.mixes.at(static_cast<std::size_t>(position)));
    environments.emplace(spot, build.environment);
    wanted.builds.emplace(spot, build);
    wanted.prospects.emplace(spot, HasWheel{});
  }
  const SessionsOf owner{"packages:" + std::to_string(search.id.value), regression.night,
                         regression.machine, priority::search, [&](const BisectionJob& job) {
                           storage::add_package_job(transaction, search.id, job);
                         }};
  queue_sessions(context, transaction, owner, facts.series, wanted,
                 plan_step(wanted, facts.progress, now), environments);
  transaction.commit();
  return true;
}

bool apply(EngineContext& context, const PackageFacts& facts, const EndPackageSearch& step) {
  storage::Transaction transaction(context.db);
  storage::update_package_search(transaction, step.search);
  if (step.evidence) note(transaction, facts, *step.evidence, context.clock.now());
  transaction.commit();
  announce(context, facts.plan.regression, RegressionState::confirmed);
  log::info("search among packages ended regression={} question={} state={} rule=\"{}\"",
            step.search.regression.value, name_of(step.search.question), name_of(step.search.state),
            step.search.rule);
  return true;
}

bool apply(EngineContext& context, const PackageFacts& facts, const PackagesAreSearched& step) {
  const Regression& regression = facts.plan.regression;
  const Time now = context.clock.now();
  const bool unnamed = !has_source(facts.attribution.cause);
  const RegressionState state = unnamed_state(context.config);
  storage::Transaction transaction(context.db);
  storage::end_package_searches(transaction, regression.id, now);
  storage::set_pin_moves(transaction, regression.id, step.pins);
  if (unnamed) {
    const std::string why = has_wheel(facts.attribution.cause)
                                ? "the packages and the wheel changed it, and the source did not"
                                : "the packages changed it, and the source did not";
    storage::change_regression(
        transaction, regression,
        {state, now,
         evidence::of_reason(step.cause.said.empty() ? why : why + ": " + step.cause.said)});
  }
  transaction.commit();
  if (unnamed) announce(context, regression, state);
  return true;
}

bool advance_search(EngineContext& context, const Regression& regression) {
  const auto facts = load_packages(context, regression);
  if (!facts) return false;
  const PackagesStep step = decide(*facts, context.config, context.clock.now());
  return std::visit([&](const auto& taken) { return apply(context, *facts, taken); }, step);
}

}  // namespace

bool waits_for_packages(const storage::Database& db, const Regression& regression) {
  const auto whose = storage::attribution_of(db, regression.id);
  return regression.state == RegressionState::confirmed && whose && has_environment(whose->cause) &&
         !storage::packages_are_searched(db, regression.id);
}

std::optional<PackageFacts> load_packages(const EngineView& view, const Regression& regression) {
  const auto good = lock_of(view.db, regression.good), bad = lock_of(view.db, regression.bad);
  const auto whose = storage::attribution_of(view.db, regression.id);
  auto series = storage::find_series(view.db, regression.series.front().series);
  if (!good || !bad || !whose || !series) return std::nullopt;
  PackageFacts facts{{regression, *good, *bad, wheel_of(view, regression, *series, *bad),
                      storage::package_searches_of(view.db, regression.id)},
                     *whose,
                     *std::move(series)};
  auto& searches = facts.plan.searches;
  if (searches.empty() || !is_under_way(searches.back())) {
    facts.pins = pin_changes(view, regression);
    return facts;
  }
  facts.search = std::move(searches.back());
  searches.pop_back();
  facts.policy = policy_for(view, regression.machine, facts.series);
  facts.policy.builds_at_once = 1;
  load_log(view, facts);
  facts.log.prior = prior_of(view, facts);
  return facts;
}

PackagesStep decide(const PackageFacts& facts, const Config& config, Time now) {
  if (facts.search) {
    const auto& mixes = facts.search->mixes;
    const bool asked = std::any_of(mixes.begin(), mixes.end(), [](const PackageMix& mix) {
      return mix.state == MixState::wanted;
    });
    const bool awaits_index = facts.search->state == PackageSearchState::listing || asked;
    if (awaits_index && config.environment.indexes.empty())
      return give_up(*facts.search, "no index is configured any more", now);
    if (awaits_index || facts.pending) return AwaitPackages{};
    return decide_open(facts, config, now);
  }
  auto next = next_question(facts.plan, now);
  if (auto* search = std::get_if<PackageSearch>(&next)) return AskPackages{std::move(*search)};
  PackageCause cause = package_cause(facts.plan.searches, facts.plan.good, facts.plan.bad);
  std::vector<PinMove> pins = pin_moves(facts.pins, cause.packages);
  return PackagesAreSearched{std::move(cause), std::move(pins)};
}

bool advance_package_searches(EngineContext& context) {
  auto waiting = next_to_search(load_waiting(context));
  std::erase_if(waiting, [&](const Regression& regression) {
    return !waits_for_packages(context.db, regression);
  });
  return for_each_item(context, "search among packages for regression", waiting,
                       [&](const Regression& one) { return advance_search(context, one); });
}

std::optional<PackageCause> cause_among_packages(const storage::Database& db,
                                                 const Regression& regression) {
  if (!storage::packages_are_searched(db, regression.id)) return std::nullopt;
  const auto good = lock_of(db, regression.good), bad = lock_of(db, regression.bad);
  if (!good || !bad) return std::nullopt;
  return package_cause(storage::package_searches_of(db, regression.id), *good, *bad);
}

}  // namespace nightjar::service
