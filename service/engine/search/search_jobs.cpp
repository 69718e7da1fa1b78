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

constexpr auto kSessionGap = 10min;        // a later job is a new session, whatever was planned
constexpr int kUninformativeSessions = 3;  // so many in a row without a run end the search
constexpr int kDisturbedSessions = 25;     // or so many on a machine that was never undisturbed

std::vector<int> distinct(std::vector<int> commits) {
  std::sort(commits.begin(), commits.end());
  commits.erase(std::unique(commits.begin(), commits.end()), commits.end());
  return commits;
}

// Why the commit has no build here, if no place has one.
std::optional<Untestable> without_build(const StepFacts& facts, int commit) {
  const auto* none = std::get_if<NoBuild>(&facts.builds.at(commit));
  const auto* place = std::get_if<HasNoPlace>(&facts.prospects.at(commit));
  if (!none || !place) return std::nullopt;
  const std::string builders = place->builders.empty() ? "" : "; " + place->builders;
  return Untestable{commit, UntestableCause::no_build_here, none->reason + builders};
}

bool can_be_asked(const StepFacts& facts, int commit) {
  return std::holds_alternative<CanBeBuilt>(facts.prospects.at(commit));
}

// Whether every commit can be measured now.
bool all_ready(const StepFacts& facts, const std::vector<int>& commits) {
  return std::none_of(commits.begin(), commits.end(), [&](int commit) {
    return std::holds_alternative<NoBuild>(facts.builds.at(commit));
  });
}

// Of every commit that a planned session runs.
std::map<int, EnvironmentSpec> make_environments(EngineContext& context,
                                                 storage::Transaction& transaction,
                                                 const StepFacts& facts, const StepPlan& plan) {
  std::map<int, EnvironmentSpec> environments;
  for (const PlannedSession& session : plan.sessions)
    for (const int commit : distinct(session.commits))
      if (!environments.contains(commit))
        environments.emplace(commit,
                             made(context, transaction, facts.builds.at(commit)).environment);
  return environments;
}

}  // namespace

StepFacts load_step(const EngineView& view, const Bisection& bisection, const Workload& workload,
                    const std::vector<Prospect>& prospects, const bisect::Measure& step) {
  StepFacts facts{step, workload, {}, {}, storage::jobs_of_bisection(view.db, bisection.id).size()};
  std::vector<int> commits = step.order;
  for (const auto* more : {&step.build_too, &step.measure_too})
    commits.insert(commits.end(), more->begin(), more->end());
  for (const int commit : distinct(std::move(commits))) {
    facts.builds.emplace(commit, find_commit_build(view, bisection, commit));
    facts.prospects.emplace(commit, prospects.at(static_cast<std::size_t>(commit)));
  }
  return facts;
}

StepPlan plan_step(const StepFacts& facts, const SearchProgress& progress, Time now) {
  StepPlan plan;
  const bisect::Measure& step = facts.step;
  std::vector<int> to_build = distinct(step.order);
  to_build.insert(to_build.end(), step.build_too.begin(), step.build_too.end());
  for (const int commit : to_build) {
    if (can_be_asked(facts, commit)) plan.builds.push_back(commit);
    if (auto none = without_build(facts, commit)) plan.untestable.push_back(*std::move(none));
  }
  if (!all_ready(facts, step.order)) return plan;
  int next_session = progress.next_session;
  const bool goes_on = !step.new_session && progress.last && progress.last->runner &&
                       now - progress.last->created_at < kSessionGap;
  if (goes_on)
    plan.sessions.push_back({step.order, progress.last_session, progress.last->runner});
  else
    plan.sessions.push_back({step.order, next_session++, std::nullopt});
  for (const int commit : step.measure_too) {
    if (auto none = without_build(facts, commit))
      plan.untestable.push_back(*std::move(none));
    else
      plan.sessions.push_back(
          {std::vector<int>(step.order.size(), commit), next_session++, std::nullopt});
  }
  return plan;
}

void queue_step(EngineContext& context, storage::Transaction& transaction,
                const Bisection& bisection, const SearchedChange& change, const Series& series,
                const StepFacts& facts, const StepPlan& plan) {
  const Time now = context.clock.now();
  for (const Untestable& commit : plan.untestable)
    storage::add_untestable(transaction, bisection.id, commit);
  for (const int commit : plan.builds) {
    const auto& prospect = std::get<CanBeBuilt>(facts.prospects.at(commit));
    const CommitSha& sha = bisection.commits.at(static_cast<std::size_t>(commit));
    storage::request_build(transaction, {prospect.native_state, variant_of(context, bisection.good),
                                         source_of(context.config, sha), change.night,
                                         priority::search, now, prospect.wheel_is_lost});
  }
  const auto environments = make_environments(context, transaction, facts, plan);
  std::size_t number = facts.jobs;
  for (const PlannedSession& session : plan.sessions) {
    Job job;
    job.key =
        "bisection:" + std::to_string(bisection.id.value) + "/step:" + std::to_string(number++);
    job.night = change.night;
    job.machine = change.machine;
    job.priority = change.is_better() ? priority::fix : priority::search;
    job.affinity = session.affinity;
    job.spec = search_spec(context.config, series, facts.workload, session.commits, environments);
    job = queue_job(transaction, std::move(job), now);
    storage::add_bisection_job(transaction, bisection.id, {job.id, session.number});
  }
}

bisect::SearchPolicy policy_for(const EngineView& view, MachineId machine, const Series& series) {
  const std::vector<Runner> live = live_runners(view);
  const auto here = std::count_if(live.begin(), live.end(), [&](const Runner& runner) {
    return runner.machine == machine &&
           measures(runner, series.variant, view.config.source.variant);
  });
  bisect::SearchPolicy policy = view.config.search;
  policy.threshold = search_threshold(view, series);
  policy.builds_at_once = std::clamp(static_cast<int>(here), 1, policy.builds_at_once);
  return policy;
}

JobSpec search_spec(const Config& config, const Series& series, const Workload& workload,
                    const std::vector<int>& commits,
                    const std::map<int, EnvironmentSpec>& environments) {
  const std::vector<int> used = distinct(commits);
  JobSpec spec;
  spec.kind = JobKind::bisect;
  for (const int commit : used) spec.environments.push_back(environments.at(commit));
  spec.workloads = {workload};
  std::vector<int> order;
  for (const int commit : commits)
    order.push_back(
        static_cast<int>(std::lower_bound(used.begin(), used.end(), commit) - used.begin()));
  spec.order = given_order(order);
  spec.limits = run_limits(config.night);
  // Peak memory is read after a fixed number of iterations: more of them cost time and say nothing.
  if (is_steady(series.metric)) spec.limits.seconds = 0;
  if (series.metric != "peak_memory") spec.limits.peak_memory = false;
  return spec;
}

std::string obstacle_of(const SearchProgress& progress, std::chrono::minutes budget) {
  if (progress.uninformative >= kUninformativeSessions)
    return "three sessions in a row gave no measurement; the last: " + progress.last_failure;
  if (progress.disturbed >= kDisturbedSessions)
    return std::to_string(progress.disturbed) +
           " sessions in a row never saw the machine undisturbed: something else runs on its cores";
  if (progress.seconds > std::chrono::duration<double>(budget).count())
    return "the budget of minutes is spent: " + std::to_string(budget.count()) +
           " minutes of measuring";
  return {};
}

}  // namespace nightjar::service
