#include "tests/simulation/truth.hpp"

#include <algorithm>
#include <cmath>

#include "tests/support/made_nights.hpp"

namespace nightjar::simulation {
namespace {

constexpr double noise = .01;    // of a run's latency
constexpr double control = .25;  // s
constexpr double seconds_of_setup = 5;
constexpr int iterations = 6;

}  // namespace

Truth::Truth(const Plan& plan) : plan_(plan) {
  commits_.push_back(graph_.commit("main", "Begin", {{"torch/__init__.py", "0"}}));
}

void Truth::next_day(int commits, const std::string& date, service::Artifacts& artifacts,
                     Time now) {
  for (int i = 0; i < commits; ++i) {
    const int number = head() + 1;
    commits_.push_back(test::add_change(graph_, commits_.size(), plan_.native.contains(number)));
    if (plan_.ci.contains(number)) add_ci_wheel(number, artifacts, now);
  }
  Build nightly = test::made_nightly(graph_, artifacts, date, commits_.back(), now);
  if (plan_.broken_packages.contains(static_cast<int>(nightlies_.size()))) {
    nightly.state = BuildState::unusable;
    nightly.reason = "a file of RECORD is missing";
  }
  nightlies_.push_back(nightly.version);
  wheels_.push_back(std::move(nightly));
}

void Truth::add_ci_wheel(int position, service::Artifacts& artifacts, Time now) {
  wheels_.push_back(test::made_ci_wheel(artifacts, commit(position), now));
}

int Truth::nightly(const Build& wheel) const {
  const auto found = std::find(nightlies_.begin(), nightlies_.end(), wheel.version);
  return found == nightlies_.end() ? -1 : static_cast<int>(found - nightlies_.begin());
}

int Truth::group(int position) const {
  return static_cast<int>(std::distance(plan_.native.begin(), plan_.native.upper_bound(position)));
}

bool Truth::is_testable(int position) const {
  return imports(position) && std::any_of(wheels_.begin(), wheels_.end(), [&](const Build& wheel) {
           return wheel.state == BuildState::proved &&
                  group(this->position(*wheel.commit)) == group(position);
         });
}

int Truth::position(const CommitSha& commit) const {
  const auto found = std::find(commits_.begin(), commits_.end(), commit);
  return found == commits_.end() ? -1 : static_cast<int>(found - commits_.begin());
}

double Truth::level(const Measured& what, int machine_class, const std::string& workload,
                    const std::string& metric) const {
  const auto shows = [&](const Effect& effect) {
    return effect.workload == workload && effect.metric == metric &&
           effect.classes.contains(machine_class);
  };
  double value = metric == "latency" ? .010 * (1 + .5 * machine_class) : 3e8;
  for (const auto* steps : {&plan_.steps, &plan_.gains})
    for (const Step& step : *steps)
      if (what.position >= step.commit && shows(step)) value *= step.factor;
  for (const WheelChange& change : plan_.wheels)
    if (what.nightly >= change.day && shows(change)) value *= change.factor;
  if (what.nightly < 0 && metric == "latency") value *= plan_.ci_factor;
  return value;
}

SessionResult Truth::measure(const JobSpec& spec, const Positions& where, Time now,
                             Random& random) const {
  SessionResult result;
  for (const EnvironmentSpec& environment : spec.environments)
    result.setup_seconds.emplace_back(environment.key(), seconds_of_setup);
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
    run.samples["latency"] = {test::near(control, normal)};
    return run;
  }
  if (spec.kind == JobKind::profile) {
    test::lack_profiler(run);
    return run;
  }
  const Measured& at = where.of_environments.at(static_cast<std::size_t>(planned.environment));
  const auto& workload = spec.workloads.at(static_cast<std::size_t>(planned.workload)).name.str();
  if (!imports(at.position)) {
    test::break_import(run);
    return run;
  }
  const double latency = level(at, where.machine_class, workload, "latency") * (1 + planned.slow) *
                         std::exp(noise * random.normal());
  test::add_iterations(run, iterations, latency, latency, normal);
  run.samples["peak_cpu_memory"] = {
      test::near(level(at, where.machine_class, workload, "peak_cpu_memory"), normal)};
  return run;
}

}  // namespace nightjar::simulation
