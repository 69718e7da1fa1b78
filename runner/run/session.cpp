#include "runner/run/session.hpp"

#include "runner/catalog/catalog.hpp"
#include "runner/process/failure.hpp"

namespace nightjar::runner {
namespace {

bool needs_native(const JobSpec& spec, int environment) {
  for (const PlannedRun& run : spec.order)
    if (run.environment == environment && !run.is_control() &&
        is_native(spec.workloads[static_cast<std::size_t>(run.workload)].name))
      return true;
  return false;
}

std::vector<Prepared> prepare_all(const JobSpec& spec, Executor& executor, SessionResult& session,
                                  std::stop_token stop) {
  std::vector<Prepared> prepared;
  for (std::size_t i = 0; i < spec.environments.size(); ++i) {
    const EnvironmentSpec& environment = spec.environments[i];
    prepared.push_back(
        executor.prepare(environment, needs_native(spec, static_cast<int>(i)), stop));
    session.setup_seconds.emplace_back(environment.key(), prepared.back().seconds);
  }
  return prepared;
}

}  // namespace

std::string problem_of(const JobSpec& spec) {
  if (spec.order.empty()) return "the session has no run";
  if (spec.limits.threads < 1) return "the session asks for less than one thread";
  for (const PlannedRun& run : spec.order) {
    if (run.is_control()) continue;
    if (run.workload >= static_cast<int>(spec.workloads.size()) || run.environment < 0 ||
        run.environment >= static_cast<int>(spec.environments.size()))
      return "a run names an environment or workload that the session does not have";
  }
  return {};
}

SessionResult run_session(JobId job, const JobSpec& spec, Executor& executor, const Clock& clock,
                          std::stop_token stop, const std::function<void(const RunResult&)>& done) {
  SessionResult session;
  const auto lock = executor.lock_machine("measures job " + std::to_string(job.value), stop);
  executor.begin_session(spec);
  const std::vector<Prepared> prepared = prepare_all(spec, executor, session, stop);
  session.before = executor.machine();
  for (std::size_t i = 0; i < spec.order.size(); ++i) {
    if (stop.stop_requested()) throw Stopped();
    const PlannedRun& planned = spec.order[i];
    RunTask task{job,          static_cast<int>(i),          nullptr, nullptr, &spec.limits,
                 planned.slow, spec.kind == JobKind::profile};
    std::string broken;
    if (!planned.is_control()) {
      task.environment = &spec.environments[static_cast<std::size_t>(planned.environment)];
      task.workload = &spec.workloads[static_cast<std::size_t>(planned.workload)];
      broken = prepared[static_cast<std::size_t>(planned.environment)].broken;
    }
    const Time started = clock.now();
    ParsedRun run;
    if (broken.empty()) {
      run = executor.run(task, stop);
    } else {
      run.result.status = RunStatus::broken_environment;
      run.result.reason = broken;
    }
    run.result.order = task.order;
    run.result.started_at = started;
    session.packages.insert(run.packages.begin(), run.packages.end());
    session.settings.insert(run.settings.begin(), run.settings.end());
    session.runs.push_back(std::move(run.result));
    if (done) done(session.runs.back());
  }
  session.after = executor.machine();
  return session;
}

}  // namespace nightjar::runner
