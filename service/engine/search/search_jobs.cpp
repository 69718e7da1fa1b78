#include "service/engine/search/search_jobs.hpp"

#include <algorithm>

#include "service/engine/jobs/live_runners.hpp"
#include "service/engine/jobs/session_plan.hpp"
#include "service/engine/jobs/sessions.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/bisections.hpp"
#include "storage/jobs.hpp"
#include "storage/model/metric.hpp"

namespace nightjar::service {
namespace {
using namespace std::chrono_literals;

constexpr int kPriority = 10;
constexpr auto kSessionGap = 10min;  // a later job is a new session, whatever was planned

std::vector<int> distinct(std::vector<int> commits) {
  std::sort(commits.begin(), commits.end());
  commits.erase(std::unique(commits.begin(), commits.end()), commits.end());
  return commits;
}

// The first of these commits that has no build.
std::optional<Untestable> without_build(const StepFacts& facts, const std::vector<int>& commits) {
  for (const int commit : distinct(commits))
    if (const auto* none = std::get_if<NoBuild>(&facts.builds.at(commit)))
      return Untestable{commit, UntestableCause::no_build_here, none->reason};
  return std::nullopt;
}

JobSpec spec_of(const Config& config, const Series& series, const std::vector<int>& commits,
                const std::map<int, EnvironmentSpec>& environments) {
  const std::vector<int> used = distinct(commits);
  JobSpec spec;
  spec.kind = JobKind::bisect;
  for (const int commit : used) spec.environments.push_back(environments.at(commit));
  spec.workloads = {{series.workload, series.workload_name, series.workload_version}};
  std::vector<int> order;
  for (const int commit : commits)
    order.push_back(
        static_cast<int>(std::lower_bound(used.begin(), used.end(), commit) - used.begin()));
  spec.order = given_order(order);
  spec.limits = run_limits(config.night);
  // Peak memory is read after a fixed number of iterations: more of them cost time and say nothing.
  if (is_steady(series.metric)) spec.limits.seconds = 0;
  return spec;
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

StepFacts load_step(const EngineView& view, const Bisection& bisection,
                    const bisect::Measure& step) {
  StepFacts facts{step, {}, storage::jobs_of_bisection(view.db, bisection.id).size()};
  std::vector<int> commits = step.order;
  commits.insert(commits.end(), step.build_too.begin(), step.build_too.end());
  for (const int commit : distinct(std::move(commits)))
    facts.builds.emplace(commit, find_commit_build(view, bisection, commit));
  return facts;
}

StepPlan plan_step(const StepFacts& facts, const SearchProgress& progress, Time now) {
  StepPlan plan;
  const bisect::Measure& step = facts.step;
  if (const auto none = without_build(facts, step.order)) {
    plan.untestable.push_back(*none);
    return plan;
  }
  int next_session = progress.next_session;
  const bool goes_on = !step.new_session && progress.last && progress.last->runner &&
                       now - progress.last->created_at < kSessionGap;
  if (goes_on)
    plan.sessions.push_back({step.order, progress.last_session, progress.last->runner});
  else
    plan.sessions.push_back({step.order, next_session++, std::nullopt});
  for (const int commit : step.build_too) {
    if (const auto none = without_build(facts, {commit}))
      plan.untestable.push_back(*none);
    else
      plan.sessions.push_back(
          {std::vector<int>(step.order.size(), commit), next_session++, std::nullopt});
  }
  return plan;
}

void queue_step(EngineContext& context, storage::Transaction& transaction,
                const Bisection& bisection, const Regression& regression, const Series& series,
                const StepFacts& facts, const StepPlan& plan) {
  for (const Untestable& commit : plan.untestable)
    storage::add_untestable(transaction, bisection.id, commit);
  const auto environments = make_environments(context, transaction, facts, plan);
  std::size_t number = facts.jobs;
  for (const PlannedSession& session : plan.sessions) {
    Job job;
    job.key =
        "bisection:" + std::to_string(bisection.id.value) + "/step:" + std::to_string(number++);
    job.night = regression.night;
    job.machine = regression.machine;
    job.priority = kPriority;
    job.affinity = session.affinity;
    job.spec = spec_of(context.config, series, session.commits, environments);
    job = queue_job(transaction, std::move(job), context.clock.now());
    storage::add_bisection_job(transaction, bisection.id, {job.id, session.number});
  }
}

bisect::SearchPolicy policy_for(const EngineView& view, MachineId machine, const Series& series) {
  const std::vector<Runner> live = live_runners(view);
  const auto here = std::count_if(live.begin(), live.end(),
                                  [&](const Runner& runner) { return runner.machine == machine; });
  bisect::SearchPolicy policy = view.config.search;
  policy.threshold = search_threshold(view, series);
  policy.builds_at_once = std::clamp(static_cast<int>(here), 1, policy.builds_at_once);
  return policy;
}

}  // namespace nightjar::service
