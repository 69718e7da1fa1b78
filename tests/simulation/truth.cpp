#include "tests/simulation/truth.hpp"

#include <algorithm>
#include <cmath>

#include "tests/support/made_nights.hpp"

namespace nightjar::simulation {
namespace {

constexpr double kNoise = .01;    // of a run's latency
constexpr double kControl = .25;  // s
constexpr double kSetupSeconds = 5;
constexpr int kIterations = 6;

}  // namespace

Truth::Truth(const Plan& plan) : plan_(plan) {
  commits_.push_back(graph_.commit("main", "Begin", {{"torch/__init__.py", "0"}}));
}

void Truth::next_day(int commits, const std::string& date, service::Artifacts& artifacts,
                     Time now) {
  for (int i = 0; i < commits; ++i) commits_.push_back(test::add_change(graph_, commits_.size()));
  nightlies_.push_back(test::made_nightly(graph_, artifacts, date, commits_.back(), now));
}

int Truth::position(const CommitSha& commit) const {
  const auto found = std::find(commits_.begin(), commits_.end(), commit);
  return found == commits_.end() ? -1 : static_cast<int>(found - commits_.begin());
}

double Truth::level(int position, int machine_class, const std::string& workload,
                    const std::string& metric) const {
  double value = metric == "latency" ? .010 * (1 + .5 * machine_class) : 3e8;
  for (const auto* steps : {&plan_.steps, &plan_.gains})
    for (const Step& step : *steps)
      if (position >= step.commit && step.workload == workload && step.metric == metric &&
          step.classes.contains(machine_class))
        value *= step.factor;
  return value;
}

SessionResult Truth::measure(const JobSpec& spec, const Positions& where, Time now,
                             Random& random) const {
  SessionResult result;
  for (const EnvironmentSpec& environment : spec.environments)
    result.setup_seconds.emplace_back(environment.key(), kSetupSeconds);
  for (std::size_t i = 0; i < spec.order.size(); ++i) {
    RunResult run = measure_run(spec, spec.order[i], where, random);
    run.order = static_cast<int>(i);
    run.started_at = now;
    run.seconds = 10;
    result.runs.push_back(std::move(run));
  }
  return result;
}

RunResult Truth::measure_run(const JobSpec& spec, const PlannedRun& planned, const Positions& where,
                             Random& random) const {
  RunResult run;
  const auto normal = [&] { return random.normal(); };
  if (planned.is_control()) {
    run.samples["latency"] = {test::near(kControl, normal)};
    return run;
  }
  if (spec.kind == JobKind::profile) {
    test::lack_profiler(run);
    return run;
  }
  const int at = where.of_environments.at(static_cast<std::size_t>(planned.environment));
  const auto& workload = spec.workloads.at(static_cast<std::size_t>(planned.workload)).name.str();
  if (!imports(at)) {
    test::break_import(run);
    return run;
  }
  const double latency = level(at, where.machine_class, workload, "latency") * (1 + planned.slow) *
                         std::exp(kNoise * random.normal());
  test::add_iterations(run, kIterations, latency, latency, normal);
  run.samples["peak_cpu_memory"] = {
      test::near(level(at, where.machine_class, workload, "peak_cpu_memory"), normal)};
  return run;
}

}  // namespace nightjar::simulation
