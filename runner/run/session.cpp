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

RunTask task_of(JobId job, const JobSpec& spec, std::size_t order) {
  const PlannedRun& planned = spec.order[order];
  RunTask task{.job = job, .order = static_cast<int>(order), .limits = &spec.limits};
  task.slow = planned.slow;
  task.profile = spec.kind == JobKind::profile;
  task.gpu = planned.is_control() && spec.uses_gpu();
  if (planned.is_control()) return task;
  task.environment = &spec.environments[static_cast<std::size_t>(planned.environment)];
  task.workload = &spec.workloads[static_cast<std::size_t>(planned.workload)];
  return task;
}

ParsedRun run_unless_broken(const RunTask& task, const Prepared& prepared, Executor& executor,
                            const Clock& clock, std::stop_token stop) {
  const Time started = clock.now();
  ParsedRun run;
  if (prepared.broken.empty()) {
    run = executor.run(task, std::move(stop));
  } else {
    run.result.status = prepared.status;
    run.result.reason = prepared.status == RunStatus::unavailable
                            ? "its environment cannot be made: " + prepared.broken
                            : prepared.broken;
  }
  run.result.order = task.order;
  run.result.started_at = started;
  return run;
}

void run_all(JobId job, const JobSpec& spec, const std::vector<Prepared>& prepared,
             Executor& executor, const Clock& clock, const std::stop_token& stop,
             const SessionHooks& hooks, SessionResult& session) {
  for (std::size_t i = 0; i < spec.order.size(); ++i) {
    if (stop.stop_requested()) throw Stopped();
    const PlannedRun& planned = spec.order[i];
    if (hooks.wanted && !hooks.wanted(planned)) continue;
    const Prepared none;
    const Prepared& environment =
        planned.is_control() ? none : prepared[static_cast<std::size_t>(planned.environment)];
    ParsedRun run = run_unless_broken(task_of(job, spec, i), environment, executor, clock, stop);
    session.packages.insert(run.packages.begin(), run.packages.end());
    session.settings.insert(run.settings.begin(), run.settings.end());
    if (hooks.done) hooks.done(planned, run);
    session.runs.push_back(std::move(run.result));
  }
}

// Names the first limit that is beyond what a service asks for; empty if there is none.
std::string impossible_limit(const RunLimits& limits) {
  constexpr double day = 24 * 3600;
  constexpr std::int64_t gib = 1 << 30;
  constexpr int most_iterations = 1'000'000;
  if (!(limits.timeout_seconds > 0 && limits.timeout_seconds <= day)) return "timeout_seconds";
  if (limits.memory_bytes < 0) return "memory_bytes";
  if (limits.output_bytes < 1 || limits.output_bytes > gib) return "output_bytes";
  if (limits.threads < 1 || limits.threads > 4096) return "threads";
  if (!(limits.seconds >= 0 && limits.seconds <= day)) return "seconds";
  if (limits.min_iterations < 0 || limits.min_iterations > most_iterations) return "min_iterations";
  if (limits.kernel_iterations < 0 || limits.kernel_iterations > most_iterations)
    return "kernel_iterations";
  return {};
}

}  // namespace

std::string problem_of(const JobSpec& spec) {
  if (spec.order.empty()) return "the session has no run";
  if (spec.order.size() > most_runs) return "the session has too many runs";
  if (const std::string limit = impossible_limit(spec.limits); !limit.empty())
    return "the session's limit " + limit + " has no value that a run can have";
  for (const PlannedRun& run : spec.order) {
    if (run.is_control()) continue;
    if (run.workload >= static_cast<int>(spec.workloads.size()) || run.environment < 0 ||
        run.environment >= static_cast<int>(spec.environments.size()))
      return "a run names an environment or workload that the session does not have";
  }
  return {};
}

SessionResult run_session(JobId job, const JobSpec& spec, Executor& executor, const Clock& clock,
                          std::stop_token stop, const SessionHooks& hooks) {
  SessionResult session;
  const auto lock = executor.lock_machine("measures job " + std::to_string(job.value), stop);
  executor.begin_session(spec);
  const std::vector<Prepared> prepared = prepare_all(spec, executor, session, stop);
  session.before = executor.machine();
  try {
    run_all(job, spec, prepared, executor, clock, stop, hooks, session);
  } catch (const Stopped&) {
    if (!hooks.keep_when_stopped) throw;
  }
  session.after = executor.machine();
  return session;
}

}  // namespace nightjar::runner
