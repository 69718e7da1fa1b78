#include "service/engine/search/search_jobs.hpp"

#include <algorithm>

#include "service/engine/jobs/live_runners.hpp"
#include "service/engine/jobs/session_plan.hpp"
#include "service/engine/jobs/sessions.hpp"
#include "service/engine/search/commit_builds.hpp"
#include "service/engine/verdict/levels.hpp"
#include "storage/bisections.hpp"
#include "storage/jobs.hpp"
#include "storage/model/metric.hpp"

namespace nightjar::service {
namespace {
using namespace std::chrono_literals;

constexpr int kPriority = 10;
constexpr auto kSessionGap = 10min;  // a later job is a new session, whatever was planned

// Environments for these commits; marks the first one that has no build untestable instead.
std::optional<std::vector<EnvironmentSpec>> environments_for(EngineContext& context,
                                                             const Bisection& bisection,
                                                             const std::vector<int>& distinct) {
  std::vector<EnvironmentSpec> environments;
  for (const int commit : distinct) {
    const auto made = build_of_commit(context, bisection, commit);
    if (const auto* none = std::get_if<NoBuild>(&made)) {
      storage::write(context.db, [&](storage::Transaction& transaction) {
        storage::add_untestable(transaction, bisection.id, {commit, none->reason});
      });
      return std::nullopt;
    }
    environments.push_back(std::get<CommitBuild>(made).environment);
  }
  return environments;
}

// What runs of these commits, in this order, are to a runner; nullopt: one of them has no build.
std::optional<JobSpec> spec_of(EngineContext& context, const Bisection& bisection,
                               const Series& series, const std::vector<int>& commits) {
  std::vector<int> distinct = commits;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  auto environments = environments_for(context, bisection, distinct);
  if (!environments) return std::nullopt;
  std::vector<int> order;
  for (const int commit : commits)
    order.push_back(static_cast<int>(std::lower_bound(distinct.begin(), distinct.end(), commit) -
                                     distinct.begin()));
  JobSpec spec;
  spec.kind = JobKind::bisect;
  spec.environments = std::move(*environments);
  spec.workloads = {{series.workload, series.workload_name, series.workload_version}};
  spec.order = given_order(order);
  spec.limits = run_limits(context.config.night);
  // Peak memory is read after a fixed number of iterations: more of them cost time and say nothing.
  if (is_steady(series.metric)) spec.limits.seconds = 0;
  return spec;
}

}  // namespace

void queue_step(EngineContext& context, const Bisection& bisection, const Regression& regression,
                const Series& series, const GatheredLog& gathered, const bisect::Measure& step) {
  auto first = spec_of(context, bisection, series, step.order);
  if (!first) return;
  const bool goes_on = !step.new_session && gathered.last && gathered.last->runner &&
                       context.clock.now() - gathered.last->created_at < kSessionGap;
  std::size_t number = storage::jobs_of_bisection(context.db, bisection.id).size();
  int next_session = gathered.next_session;
  storage::Transaction transaction(context.db);
  const auto queue = [&](JobSpec spec, int session, std::optional<RunnerId> affinity) {
    Job job;
    job.key =
        "bisection:" + std::to_string(bisection.id.value) + "/step:" + std::to_string(number++);
    job.night = regression.night;
    job.machine = regression.machine;
    job.priority = kPriority;
    job.affinity = affinity;
    job.spec = std::move(spec);
    storage::add_bisection_job(transaction, bisection.id,
                               {queue_job(context, std::move(job)).id, session});
  };
  if (goes_on)
    queue(std::move(*first), gathered.last_session, gathered.last->runner);
  else
    queue(std::move(*first), next_session++, std::nullopt);
  for (const int commit : step.build_too)
    if (auto beside =
            spec_of(context, bisection, series, std::vector<int>(step.order.size(), commit)))
      queue(std::move(*beside), next_session++, std::nullopt);
  transaction.commit();
}

bisect::SearchPolicy policy_for(EngineContext& context, MachineId machine, const Series& series) {
  const std::vector<Runner> live = live_runners(context);
  const auto here = std::count_if(live.begin(), live.end(),
                                  [&](const Runner& runner) { return runner.machine == machine; });
  bisect::SearchPolicy policy = context.config.search;
  policy.threshold = search_threshold(context, series);
  policy.builds_at_once = std::clamp(static_cast<int>(here), 1, policy.builds_at_once);
  return policy;
}

}  // namespace nightjar::service
