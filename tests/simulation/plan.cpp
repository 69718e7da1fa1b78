#include "tests/simulation/plan.hpp"

#include <algorithm>
#include <cmath>

#include "tests/simulation/random.hpp"

namespace nightjar::simulation {
namespace {

const std::vector<std::string> workload_names = {"python/alpha/eval/cpu/fp32/b1/eager",
                                                 "python/beta/train/cpu/fp32/b4/eager",
                                                 "python/gamma/eval/cpu/fp32/b8/eager"};

// Each part has a stream of its own, so that a bound takes away and changes nothing else.
enum Stream : std::uint64_t {
  days = 1,
  machines,
  steps,
  faults,
  broken,
  schedule,
  gains,
  packages,
  wheels,
  native
};

int at_most(int drawn, const std::optional<int>& bound) {
  return bound ? std::min(drawn, *bound) : drawn;
}

std::vector<int> draw_days(std::uint64_t seed, const Bounds& bounds) {
  Random random(seed, Stream::days);
  const int nights = random.between(1, 3);
  std::vector<int> commits;
  for (int day = 0; day <= nights; ++day) commits.push_back(random.between(3, 16));
  commits.resize(static_cast<std::size_t>(at_most(nights, bounds.nights)) + 1);
  return commits;
}

void draw_runners(Plan& plan, const Bounds& bounds) {
  Random random(plan.seed, Stream::machines);
  const int classes = random.between(1, 2);
  for (int machine = 0; machine < classes; ++machine) {
    const int count = random.between(1, 3);
    for (int number = 0; number < count; ++number) {
      PlannedRunner runner{"runner-" + std::to_string(machine) + "-" + std::to_string(number),
                           machine,
                           {},
                           number > 0};
      for (const std::string& workload : workload_names)
        if (number == 0 || random.chance(.6)) runner.workloads.push_back(workload + "@1");
      if (machine < at_most(classes, bounds.classes) && number < at_most(count, bounds.runners))
        plan.runners.push_back(std::move(runner));
    }
  }
  plan.classes = at_most(classes, bounds.classes);
}

// Some commit between the first nightly and the last one with faults, `where` of the way; nullopt:
// there is none.
std::optional<int> commit_at(const Plan& plan, double where) {
  int first = plan.commits.front() + 1, last = first - 1;
  for (std::size_t day = 1; day < plan.commits.size(); ++day) last += plan.commits[day];
  if (last < first) return std::nullopt;
  return first + static_cast<int>(where * (last - first + 1));
}

std::set<int> draw_classes(const Plan& plan, Random& random) {
  std::set<int> classes;
  const bool everywhere = random.chance(.7);
  for (int machine = 0; machine < plan.classes; ++machine)
    if (everywhere || machine == 0) classes.insert(machine);
  return classes;
}

// Each in a workload of its own: what two commits do to one series is another story.
void draw_steps(Plan& plan, const Bounds& bounds) {
  Random random(plan.seed, Stream::steps);
  const int count = random.between(0, 2);
  for (int number = 0; number < count; ++number) {
    Step step;
    step.workload = workload_names[static_cast<std::size_t>(number)];
    step.metric = random.chance(.7) ? "latency" : "peak_cpu_memory";
    step.factor = 1.2 + .3 * random.uniform();
    const auto commit = commit_at(plan, random.uniform());
    step.classes = draw_classes(plan, random);
    if (number >= at_most(count, bounds.steps) || !commit) continue;
    step.commit = *commit;
    plan.steps.push_back(std::move(step));
  }
}

// In the workload that has no step.
void draw_gain(Plan& plan, const Bounds& bounds) {
  Random random(plan.seed, Stream::gains);
  if (!random.chance(.4)) return;
  Step gain;
  gain.workload = workload_names.back();
  gain.metric = random.chance(.7) ? "latency" : "peak_cpu_memory";
  gain.factor = .6 + .2 * random.uniform();
  const auto commit = commit_at(plan, random.uniform());
  gain.classes = draw_classes(plan, random);
  if (at_most(1, bounds.gains) == 0 || !commit) return;
  gain.commit = *commit;
  plan.gains.push_back(std::move(gain));
}

// Workloads without a step or a gain, whatever the bounds take away.
std::vector<std::string> quiet_workloads(std::uint64_t seed) {
  const auto with_steps = Random(seed, Stream::steps).between(0, 2);
  const auto with_gains = Random(seed, Stream::gains).chance(.4) ? 1 : 0;
  return {workload_names.begin() + with_steps, workload_names.end() - with_gains};
}

void draw_wheel_change(Plan& plan, const Bounds& bounds) {
  Random random(plan.seed, Stream::wheels);
  const std::vector<std::string> quiet = quiet_workloads(plan.seed);
  if (!random.chance(.4) || quiet.empty()) return;
  WheelChange change;
  change.workload = quiet.front();
  change.metric = random.chance(.7) ? "latency" : "peak_cpu_memory";
  const bool is_better = random.chance(.25);
  change.factor = (is_better ? .75 : 1.1) + .2 * random.uniform() * (is_better ? .75 : 1);
  const double where = random.uniform();
  change.classes = draw_classes(plan, random);
  if (at_most(1, bounds.wheels) == 0 || plan.nights() == 0) return;
  change.day = 1 + static_cast<int>(where * plan.nights());
  plan.wheels.push_back(std::move(change));
}

void draw_broken_packages(Plan& plan, const Bounds& bounds) {
  Random random(plan.seed, Stream::packages);
  for (int day = 1; day <= plan.nights(); ++day)
    if (random.chance(.15) && at_most(1, bounds.packages) > 0) plan.broken_packages.insert(day);
}

// Native commits, and CI's wheels of most native groups, those of nightlies included.
void draw_native(Plan& plan, const Bounds& bounds) {
  Random random(plan.seed, Stream::native);
  if (!random.chance(.4) || at_most(1, bounds.native) == 0) return;
  constexpr double native = .3, has_wheel = .7, effect = .05;
  plan.ci_factor = std::exp(effect * random.normal());
  int last = 0;
  for (const int count : plan.commits) last += count;
  std::vector<std::vector<int>> groups{{0}};
  for (int commit = 1; commit <= last; ++commit) {
    if (random.chance(native)) {
      plan.native.insert(commit);
      groups.emplace_back();
    }
    groups.back().push_back(commit);
  }
  for (const std::vector<int>& group : groups) {
    const int chosen = random.between(0, static_cast<int>(group.size()) - 1);
    if (random.chance(has_wheel)) plan.ci.insert(group[static_cast<std::size_t>(chosen)]);
  }
}

}  // namespace

Plan make_plan(std::uint64_t seed, const Bounds& bounds) {
  Plan plan;
  plan.seed = seed;
  plan.commits = draw_days(seed, bounds);
  draw_runners(plan, bounds);
  draw_steps(plan, bounds);
  draw_gain(plan, bounds);
  Random random(seed, Stream::faults);
  for (const Fault fault : all_of<Fault>())
    if (random.chance(.4) && (!bounds.faults || bounds.faults->contains(fault)))
      plan.faults.insert(fault);
  plan.scheduled = Random(seed, Stream::schedule).chance(.5) && plan.has(Fault::clock);
  Random drawn(seed, Stream::broken);
  int commit = 0;
  for (const int count : plan.commits)
    for (int i = 1; i <= count; ++i, ++commit)
      if (drawn.chance(.08) && i != count) plan.broken.insert(commit + 1);
  draw_wheel_change(plan, bounds);
  draw_broken_packages(plan, bounds);
  draw_native(plan, bounds);
  return plan;
}

std::string arguments_of(std::uint64_t seed, const Bounds& bounds) {
  std::string text = "--seed " + std::to_string(seed);
  const auto add = [&](const char* name, const std::optional<int>& bound) {
    if (bound) text += std::string(" --") + name + " " + std::to_string(*bound);
  };
  add("nights", bounds.nights);
  add("classes", bounds.classes);
  add("runners", bounds.runners);
  add("steps", bounds.steps);
  add("gains", bounds.gains);
  add("wheels", bounds.wheels);
  add("native", bounds.native);
  add("packages", bounds.packages);
  if (!bounds.faults) return text;
  std::string names;
  for (const Fault fault : *bounds.faults)
    names += (names.empty() ? "" : ",") + std::string(name_of(fault));
  return text + " --faults " + (names.empty() ? "none" : names);
}

}  // namespace nightjar::simulation
