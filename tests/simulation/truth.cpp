#include "tests/simulation/truth.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

namespace nightjar::simulation {
namespace {

constexpr double kNoise = .01;        // of a run's latency
constexpr double kSmallNoise = .002;  // of an iteration's, and of memory
constexpr double kControl = .25;      // s
constexpr double kSetup = 5;          // s
constexpr int kIterations = 6;

}  // namespace

Truth::Truth(const Plan& plan) : plan_(plan) {
  commits_.push_back(graph_.commit("main", "Begin", {{"torch/__init__.py", "0"}}));
}

void Truth::next_day(int commits, const std::string& date, service::Artifacts& artifacts,
                     Time now) {
  for (int i = 0; i < commits; ++i) {
    const std::string number = std::to_string(commits_.size());
    commits_.push_back(graph_.commit("main", "Change " + number + " (#" + number + ")",
                                     {{"torch/m" + number + ".py", number}}));
  }
  Build build;
  build.nightly_commit = graph_.release("nightly", date, commits_.back());
  build.version = "2.14.0.dev" + date + "+cpu";
  std::erase(build.version, '-');
  build.variant = "cpu";
  build.date = date;
  build.url = "https://example.org/torch-" + build.version + "-cp311-cp311-linux_x86_64.whl";
  build.commit = commits_.back();
  const auto wheel = artifacts.temporary();
  std::ofstream(wheel) << build.version;
  build.sha256 = artifacts.add(wheel);
  build.state = BuildState::proved;
  build.found_at = now;
  nightlies_.push_back(std::move(build));
}

int Truth::position(const CommitSha& commit) const {
  const auto found = std::find(commits_.begin(), commits_.end(), commit);
  return found == commits_.end() ? -1 : static_cast<int>(found - commits_.begin());
}

double Truth::level(int position, int machine_class, const std::string& workload,
                    const std::string& metric) const {
  double value = metric == "latency" ? .010 * (1 + .5 * machine_class) : 3e8;
  for (const Step& step : plan_.steps)
    if (position >= step.commit && step.workload == workload && step.metric == metric &&
        step.classes.contains(machine_class))
      value *= step.factor;
  return value;
}

SessionResult Truth::measure(const JobSpec& spec, const Positions& where, Time now,
                             Random& random) const {
  SessionResult result;
  for (const EnvironmentSpec& environment : spec.environments)
    result.setup_seconds.emplace_back(environment.key(), kSetup);
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
  if (planned.is_control()) {
    run.samples["latency"] = {kControl * std::exp(kSmallNoise * random.normal())};
    return run;
  }
  if (spec.kind == JobKind::profile) {
    run.status = RunStatus::unavailable;
    run.reason = "no profiler here";
    return run;
  }
  const int at = where.of_environments.at(static_cast<std::size_t>(planned.environment));
  const auto& workload = spec.workloads.at(static_cast<std::size_t>(planned.workload)).name.str();
  if (!imports(at)) {
    run.status = RunStatus::broken_environment;
    run.reason = "ImportError";
    return run;
  }
  const double latency = level(at, where.machine_class, workload, "latency") * (1 + planned.slow) *
                         std::exp(kNoise * random.normal());
  for (int i = 0; i < kIterations; ++i) {
    run.samples["latency"].push_back(latency * std::exp(kSmallNoise * random.normal()));
    run.cpu_seconds.push_back(latency);
    run.wait_seconds.push_back(0);
  }
  run.samples["peak_cpu_memory"] = {level(at, where.machine_class, workload, "peak_cpu_memory") *
                                    std::exp(kSmallNoise * random.normal())};
  return run;
}

}  // namespace nightjar::simulation
