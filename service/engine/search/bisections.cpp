#include "service/engine/search/bisections.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "bisect/evidence/evidence.hpp"
#include "bisect/search.hpp"
#include "service/builds/overlay.hpp"
#include "service/engine/search/blame.hpp"
#include "service/engine/search/commit_builds.hpp"
#include "service/engine/search/search_jobs.hpp"
#include "service/engine/search/search_log.hpp"
#include "storage/bisections.hpp"
#include "storage/builds.hpp"
#include "storage/regressions.hpp"
#include "storage/series.hpp"

namespace nightjar::service {
namespace {

constexpr int kUninformativeSessions = 3;  // so many in a row without a run end the search
constexpr int kDisturbedSessions = 25;     // or so many on a machine that was never undisturbed
constexpr double kKnownCulpritMass = .5;   // prior share of commits that this night blamed already

void announce(EngineContext& context, const Bisection& bisection, std::string_view what) {
  context.publish("bisection", nlohmann::json{{"id", bisection.id.value},
                                              {"regression", bisection.regression.value},
                                              {"state", name_of(bisection.state)},
                                              {"what", what}}
                                   .dump());
}

// How far the effect stands out of its interval: the clearest is searched first.
double clarity(const Regression& regression) {
  const AffectedSeries& lead = regression.series.front();
  const double width = std::log(lead.high / lead.low);
  return std::log(lead.ratio) / std::max(width, 1e-3);
}

std::set<CommitSha> blamed_already(EngineContext& context, const Regression& regression) {
  std::set<CommitSha> blamed;
  for (const Regression& other : storage::regressions_of_night(context.db, regression.night))
    if (other.machine == regression.machine && other.culprit)
      blamed.insert(other.culprit->commits.begin(), other.culprit->commits.end());
  return blamed;
}

// By risk, and half of the mass on what this night blamed already: one cause often shows in several
// series, and those commits' builds exist.
std::vector<double> prior_of(EngineContext& context, const Bisection& bisection,
                             const Regression& regression) {
  std::vector<git::Commit> commits;
  if (const auto range = context.graph.range(bisection.commits.front(), bisection.commits.back()))
    commits = *range;
  if (commits.size() + 1 != bisection.commits.size()) return {};
  std::vector<double> prior = risk_prior(context.graph, commits);
  const std::set<CommitSha> blamed = blamed_already(context, regression);
  double known = 0, rest = 0;
  for (std::size_t i = 0; i < prior.size(); ++i)
    (blamed.count(commits[i].sha) ? known : rest) += prior[i];
  if (known > 0 && rest > 0)
    for (std::size_t i = 0; i < prior.size(); ++i)
      prior[i] *=
          blamed.count(commits[i].sha) ? kKnownCulpritMass / known : (1 - kKnownCulpritMass) / rest;
  return prior;
}

std::vector<int> built_commits(EngineContext& context, const Bisection& bisection) {
  std::vector<int> built;
  for (int i = 1; i + 1 < static_cast<int>(bisection.commits.size()); ++i)
    if (is_built(context, bisection, i)) built.push_back(i);
  return built;
}

void end(storage::Transaction& transaction, Time now, Bisection bisection, BisectionState state) {
  bisection.state = state;
  bisection.finished_at = now;
  storage::update_bisection(transaction, bisection);
}

// The answer, the search's end and the regression's change of state are one transaction.
void conclude(EngineContext& context, const Bisection& bisection, const Regression& regression,
              const bisect::Answer& answer, const std::string& evidence) {
  using Outcome = bisect::Answer::Outcome;
  storage::Transaction transaction(context.db);
  const bool blames =
      answer.outcome == Outcome::culprit || answer.outcome == Outcome::several_small;
  if (blames) {
    end(transaction, context.clock.now(), bisection, BisectionState::culprit);
    blame(context, transaction, regression, bisection, answer, evidence);
  } else {
    // What is below the threshold is real: a new level begins, and the next nights do not ask
    // again.
    const bool gone = answer.outcome == Outcome::not_reproduced;
    end(transaction, context.clock.now(), bisection,
        gone ? BisectionState::not_reproduced : BisectionState::inconclusive);
    storage::change_regression(transaction, regression,
                               {gone ? RegressionState::dismissed : RegressionState::inconclusive,
                                context.clock.now(), evidence});
  }
  transaction.commit();
  announce(context, bisection, answer.rule);
}

void give_up(EngineContext& context, const Bisection& bisection, const Regression& regression,
             const std::string& reason) {
  bisect::Answer answer;
  answer.outcome = bisect::Answer::Outcome::inconclusive;
  answer.rule = reason;
  conclude(context, bisection, regression, answer, evidence::of_reason(reason));
}

bool advance(EngineContext& context, Bisection bisection) {
  const auto regression = storage::find_regression(context.db, bisection.regression);
  const auto series = storage::find_series(context.db, bisection.series);
  if (!regression || !series) return false;
  GatheredLog gathered = gather_log(context, bisection, *regression, *series);
  if (gathered.pending) return false;
  bisection.runs = static_cast<int>(gathered.log.runs.size());
  bisection.sessions = gathered.sessions;
  bisection.spent_seconds = gathered.seconds;
  storage::write(context.db, [&](storage::Transaction& transaction) {
    for (const Untestable& commit : gathered.newly_untestable)
      storage::add_untestable(transaction, bisection.id, commit);
  });
  if (gathered.uninformative >= kUninformativeSessions) {
    give_up(context, bisection, *regression,
            "three sessions in a row gave no measurement; the last: " + gathered.last_failure);
    return true;
  }
  if (gathered.disturbed >= kDisturbedSessions) {
    give_up(context, bisection, *regression,
            std::to_string(gathered.disturbed) +
                " sessions in a row never saw the machine undisturbed: something else runs on its "
                "cores");
    return true;
  }
  gathered.log.prior = prior_of(context, bisection, *regression);
  gathered.log.built = built_commits(context, bisection);
  const std::chrono::minutes budget = context.config.search_minutes;
  if (gathered.seconds > 60.0 * static_cast<double>(budget.count())) {
    give_up(context, bisection, *regression,
            "the budget of minutes is spent: " + std::to_string(budget.count()) +
                " minutes of measuring");
    return true;
  }
  const bisect::SearchPolicy policy = policy_for(context, regression->machine, *series);
  const bisect::NextStep next = bisect::next_step(gathered.log, policy);
  bisection.posterior = evidence::posterior_json(next.belief, bisection.commits);
  bisection.expected_runs = next.belief.expected_runs;
  storage::write(context.db, [&](storage::Transaction& transaction) {
    storage::update_bisection(transaction, bisection);
  });
  if (const auto* answer = std::get_if<bisect::Answer>(&next.step)) {
    conclude(context, bisection, *regression, *answer,
             evidence::of_search(*answer, next.belief,
                                 {gathered.log, policy, gathered.runs, bisection.commits}));
    return true;
  }
  queue_step(context, bisection, *regression, *series, gathered,
             std::get<bisect::Measure>(next.step));
  announce(context, bisection, "step");
  return true;
}

void open_search(EngineContext& context, const Regression& regression) {
  const auto good = storage::find_build(context.db, regression.good);
  const auto bad = storage::find_build(context.db, regression.bad);
  std::optional<std::vector<git::Commit>> range;
  if (good && bad && good->commit && bad->commit)
    range = context.graph.range(*good->commit, *bad->commit);
  if (!range || range->empty()) {
    storage::write(context.db, [&](storage::Transaction& transaction) {
      storage::change_regression(
          transaction, regression,
          {RegressionState::inconclusive, context.clock.now(),
           evidence::of_reason(
               "the builds' commits do not follow one another on the main branch: the cause "
               "may lie in what they were built with")});
    });
    return;
  }
  Bisection bisection;
  bisection.regression = regression.id;
  bisection.series = regression.series.front().series;
  bisection.good = regression.good;
  bisection.bad = regression.bad;
  bisection.commits = {*good->commit};
  for (const git::Commit& commit : *range) bisection.commits.push_back(commit.sha);
  bisection.posterior = "[]";
  bisection.started_at = context.clock.now();
  storage::Transaction transaction(context.db);
  bisection = storage::add_bisection(transaction, bisection);
  storage::change_regression(
      transaction, regression,
      {RegressionState::bisecting, context.clock.now(),
       evidence::of_reason("searching " + std::to_string(range->size()) + " commits")});
  transaction.commit();
  announce(context, bisection, "opened");
}

}  // namespace

bool start_bisections(EngineContext& context) {
  std::set<std::pair<NightId, MachineId>> busy;
  for (const Regression& running :
       storage::regressions_in_state(context.db, RegressionState::bisecting))
    busy.emplace(running.night, running.machine);
  for (const Regression& undecided :
       storage::regressions_in_state(context.db, RegressionState::suspected))
    busy.emplace(undecided.night, undecided.machine);  // first know all that is to be explained
  std::map<std::pair<NightId, MachineId>, Regression> clearest;
  for (const Regression& waiting :
       storage::regressions_in_state(context.db, RegressionState::confirmed)) {
    const std::pair key{waiting.night, waiting.machine};
    if (busy.count(key)) continue;
    const auto [best, is_new] = clearest.emplace(key, waiting);
    if (!is_new && clarity(waiting) > clarity(best->second)) best->second = waiting;
  }
  for (const auto& [key, regression] : clearest) open_search(context, regression);
  return !clearest.empty();
}

bool advance_bisections(EngineContext& context) {
  bool changed = false;
  for (const Bisection& bisection : storage::open_bisections(context.db))
    changed |= advance(context, bisection);
  return changed;
}

}  // namespace nightjar::service
