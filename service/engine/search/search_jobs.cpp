#include "service/engine/search/search_jobs.hpp"

#include <algorithm>

#include "service/engine/jobs/live_runners.hpp"
#include "service/engine/jobs/priorities.hpp"
#include "service/engine/jobs/session_check.hpp"
#include "service/engine/jobs/session_plan.hpp"
#include "service/engine/policy.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/bisections.hpp"
#include "storage/jobs.hpp"
#include "storage/model/metric.hpp"
#include "storage/model/variants.hpp"
#include "storage/source_builds.hpp"

namespace nightjar::service {
namespace {
using namespace std::chrono_literals;

constexpr auto session_gap = 10min;        // a later job is a new session, whatever was planned
constexpr int uninformative_sessions = 3;  // in a row without a run: they end the search
constexpr int disturbed_sessions = 25;     // the same on a machine that was never undisturbed

template <class Value>
std::vector<Value> distinct(std::vector<Value> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// Why the commit has no build here, if no place has one.
std::optional<Untestable> without_build(const StepFacts& facts, const Spot& spot) {
  const auto* none = std::get_if<NoBuild>(&facts.builds.at(spot));
  const auto* place = std::get_if<HasNoPlace>(&facts.prospects.at(spot));
  if (!none || !place) return std::nullopt;
  const std::string builders = place->builders.empty() ? "" : "; " + place->builders;
  return Untestable{spot.commit, UntestableCause::no_build_here, none->reason + builders};
}

bool can_be_asked(const StepFacts& facts, const Spot& spot) {
  return std::holds_alternative<CanBeBuilt>(facts.prospects.at(spot));
}

// Whether all of them can be measured now.
bool all_ready(const StepFacts& facts) {
  return std::none_of(facts.order.begin(), facts.order.end(), [&](const Spot& spot) {
    return std::holds_alternative<NoBuild>(facts.builds.at(spot));
  });
}

// Makes the environment of every spot that a planned session runs.
std::map<Spot, EnvironmentSpec> make_environments(EngineContext& context,
                                                  storage::Transaction& transaction,
                                                  const StepFacts& facts, const StepPlan& plan) {
  std::map<Spot, EnvironmentSpec> environments;
  for (const PlannedSession& session : plan.sessions)
    for (const Spot& spot : distinct(session.runs))
      if (!environments.contains(spot))
        environments.emplace(spot, made(context, transaction, facts.builds.at(spot)).environment);
  return environments;
}

// The build of a spot, and what it waits for.
void load_spot(const EngineView& view, const Bisection& bisection, const Spot& spot,
               const std::vector<Prospect>& prospects, const SearchWheels& wheels,
               StepFacts& facts) {
  if (facts.builds.contains(spot)) return;
  const auto commit = static_cast<std::size_t>(spot.commit);
  if (spot.wheel >= 0) {
    const BuildId wheel = wheels.builds.at(static_cast<std::size_t>(spot.wheel));
    auto build = find_commit_build(view, bisection, spot.commit, wheel);
    if (!std::holds_alternative<NoBuild>(build)) {
      facts.builds.emplace(spot, std::move(build));
      facts.prospects.emplace(spot, HasWheel{});
      return;
    }
  }
  // Without that wheel, or if its file is gone, any that serves the commit will do.
  if (spot.wheel >= 0 || wheels.serving.at(commit).empty()) {
    facts.builds.emplace(spot, find_commit_build(view, bisection, spot.commit));
    facts.prospects.emplace(spot, prospects.at(commit));
    return;
  }
  facts.builds.emplace(spot, NoBuild{"no builder has made a wheel of its native group"});
  facts.prospects.emplace(
      spot, prospect_of_builders(view, bisection, spot.commit, live_builders(view) > 0));
}

// A session of these runs in order. `environments`: that of each spot.
JobSpec search_spec(const Config& config, const Series& series, const Workload& workload,
                    const std::vector<Spot>& runs,
                    const std::map<Spot, EnvironmentSpec>& environments) {
  const std::vector<Spot> used = distinct(runs);
  JobSpec spec;
  spec.kind = JobKind::bisect;
  for (const Spot& spot : used) spec.environments.push_back(environments.at(spot));
  spec.workloads = {workload};
  std::vector<int> order;
  for (const Spot& spot : runs)
    order.push_back(
        static_cast<int>(std::lower_bound(used.begin(), used.end(), spot) - used.begin()));
  spec.order = given_order(order);
  spec.limits = run_limits(config.night);
  // Peak memory is read after a fixed number of iterations: more of them cost time and say nothing.
  if (is_steady(series.metric)) spec.limits.seconds = 0;
  if (series.metric != "peak_memory") spec.limits.peak_memory = false;
  return spec;
}

// Says why a search with this budget of measuring time cannot go on; empty: it can.
std::string obstacle_of(const SearchProgress& progress, std::chrono::minutes budget) {
  if (progress.uninformative >= uninformative_sessions)
    return "three sessions in a row gave no measurement; the last: " + progress.last_failure;
  if (progress.disturbed >= disturbed_sessions)
    return std::to_string(progress.disturbed) +
           " sessions in a row never saw the machine undisturbed: something else runs on its cores";
  if (progress.seconds > std::chrono::duration<double>(budget).count())
    return "the budget of minutes is spent: " + std::to_string(budget.count()) +
           " minutes of measuring";
  return {};
}

}  // namespace

StepFacts load_step(const EngineView& view, const Bisection& bisection, const Workload& workload,
                    const std::vector<Prospect>& prospects, const SearchWheels& wheels,
                    const bisect::Measure& step) {
  StepFacts facts{workload, storage::jobs_of_bisection(view.db, bisection.id).size(),
                  step.new_session};
  for (std::size_t i = 0; i < step.order.size(); ++i)
    facts.order.push_back({step.order[i], step.wheels.at(i)});
  for (const int commit : step.build_too) facts.build_too.push_back({commit, -1});
  for (const int commit : step.measure_too) {
    const auto& serving = wheels.serving.at(static_cast<std::size_t>(commit));
    facts.measure_too.push_back({commit, serving.empty() ? -1 : serving.front()});
  }
  for (const auto* spots : {&facts.order, &facts.build_too, &facts.measure_too})
    for (const Spot& spot : *spots) load_spot(view, bisection, spot, prospects, wheels, facts);
  return facts;
}

StepPlan plan_step(const StepFacts& facts, const SearchProgress& progress, Time now) {
  StepPlan plan;
  std::vector<Spot> to_build = distinct(facts.order);
  to_build.insert(to_build.end(), facts.build_too.begin(), facts.build_too.end());
  for (const Spot& spot : to_build) {
    if (can_be_asked(facts, spot)) plan.builds.push_back(spot);
    if (auto none = without_build(facts, spot)) plan.untestable.push_back(*std::move(none));
  }
  if (!all_ready(facts)) return plan;
  int next_session = progress.next_session;
  const bool goes_on = !facts.new_session && progress.last && progress.last->runner &&
                       now - progress.last->created_at < session_gap;
  if (goes_on)
    plan.sessions.push_back({facts.order, progress.last_session, progress.last->runner});
  else
    plan.sessions.push_back({facts.order, next_session++, std::nullopt});
  for (const Spot& spot : facts.measure_too) {
    if (auto none = without_build(facts, spot))
      plan.untestable.push_back(*std::move(none));
    else
      plan.sessions.push_back(
          {std::vector<Spot>(facts.order.size(), spot), next_session++, std::nullopt});
  }
  return plan;
}

void queue_step(EngineContext& context, storage::Transaction& transaction,
                const Bisection& bisection, const SearchedChange& change, const Series& series,
                const StepFacts& facts, const StepPlan& plan) {
  const Time now = context.clock.now();
  for (const Untestable& commit : plan.untestable)
    storage::add_untestable(transaction, bisection.id, commit);
  for (const Spot& spot : plan.builds) {
    const auto& prospect = std::get<CanBeBuilt>(facts.prospects.at(spot));
    const CommitSha& sha = bisection.commits.at(static_cast<std::size_t>(spot.commit));
    storage::request_build(transaction, {prospect.native_state, variant_of(context, bisection.good),
                                         source_of(context.config, sha), change.night,
                                         priority::search, now, prospect.wheel_is_lost});
  }
  const SessionsOf of{
      "bisection:" + std::to_string(bisection.id.value), change.night, change.machine,
      change.is_better() ? priority::fix : priority::search,
      [&](const BisectionJob& job) { storage::add_bisection_job(transaction, bisection.id, job); }};
  queue_sessions(context, transaction, of, series, facts, plan,
                 make_environments(context, transaction, facts, plan));
}

void queue_sessions(EngineContext& context, storage::Transaction& transaction, const SessionsOf& of,
                    const Series& series, const StepFacts& facts, const StepPlan& plan,
                    const std::map<Spot, EnvironmentSpec>& environments) {
  std::size_t number = facts.jobs;
  for (const PlannedSession& session : plan.sessions) {
    Job job;
    job.key = of.search + "/step:" + std::to_string(number++);
    job.night = of.night;
    job.machine = of.machine;
    job.priority = of.priority;
    job.affinity = session.affinity;
    job.spec = search_spec(context.config, series, facts.workload, session.runs, environments);
    job = queue_job(transaction, std::move(job), context.clock.now());
    of.note({job.id, session.number});
  }
}

NextOfSearch next_of(SearchTally& search, const bisect::SearchLog& log,
                     const bisect::SearchPolicy& policy, const SearchProgress& progress,
                     std::chrono::minutes budget) {
  search.runs = static_cast<int>(log.runs.size());
  search.sessions = progress.sessions;
  search.spent_seconds = progress.seconds;
  if (std::string reason = obstacle_of(progress, budget); !reason.empty())
    return {GiveUp{std::move(reason)}, {}};
  bisect::NextStep next = bisect::next_step(log, policy);
  search.posterior = next.belief.cells;
  search.expected_runs = next.belief.expected_runs;
  NextOfSearch step{{}, std::move(next.belief)};
  std::visit([&](auto& taken) { step.step = std::move(taken); }, next.step);
  return step;
}

bisect::SearchPolicy policy_for(const EngineView& view, MachineId machine, const Series& series) {
  const std::vector<Runner> live = live_runners(view, machine);
  const auto here = std::count_if(live.begin(), live.end(), [&](const Runner& runner) {
    return measures(runner, series.variant, view.config.source.variant);
  });
  bisect::SearchPolicy policy = view.config.search;
  policy.threshold = search_threshold(view, series);
  policy.builds_at_once = std::clamp(static_cast<int>(here), 1, policy.builds_at_once);
  return policy;
}

}  // namespace nightjar::service
