// A day's builds and the time that they take: native groups of which some have a wheel, builders
// that work beside the machine that measures. Time is counted in runs. Used by the benchmarks and
// tests of the search with costs.
#pragma once

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "tests/support/rivals.hpp"

namespace nightjar::test {

// Which wheel each commit needs, and which wheels there are.
struct BuildWorld {
  std::vector<int> group;       // of commits 0..N
  std::set<int> wheels;         // groups that have a wheel, the ends' included
  std::set<int> broken_groups;  // groups whose source does not compile
  double build = 60;            // of a wheel, in runs
  double preparation = 2;       // with the wheel, before the first run
  double session = 2;           // control runs of a new session
  int builders = 1;
  bool abandons = true;  // builds that no longer matter, to free their builders
};

// Each commit is native with this chance and then begins a group. A share of the groups between the
// ends has a wheel. Draws as many numbers for any share, so that worlds of one seed differ in the
// wheels alone.
inline BuildWorld build_world(int commits, double native, double with_wheel, double broken_share,
                              std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  BuildWorld out;
  out.group.push_back(0);
  for (int commit = 1; commit <= commits; ++commit)
    out.group.push_back(out.group.back() + (uniform() < native));
  for (int group = 0; group <= out.group.back(); ++group) {
    const bool broken = uniform() < broken_share, wheel = uniform() < with_wheel;
    const bool is_end = group == 0 || group == out.group.back();
    if (is_end || (wheel && !broken)) out.wheels.insert(group);
    if (!is_end && broken) out.broken_groups.insert(group);
  }
  return out;
}

// The builders and the machine that measures, under one clock.
class BuildClock {
 public:
  BuildClock(const BuildWorld& world, int commits) : world_(world) {
    prepared_ = {{0, 0}, {commits, 0}};
    wheels_ = world.wheels;
  }

  double now() const { return now_; }
  // Builds that were finished, failed ones included, and builds that were given up.
  int builds() const { return builds_; }
  int abandoned() const { return abandoned_; }
  // Groups whose build failed so far.
  const std::set<int>& failed() const { return failed_; }
  bool has_wheel(int commit) const { return wheels_.contains(group(commit)); }
  // Groups of which a builder has made a wheel, the newest last.
  const std::vector<int>& made() const { return made_; }

  // A builder makes the commit's wheel, or will once it is free. Does nothing if there is one, if
  // it is being made, or if it is known not to compile.
  void build(int commit) {
    if (!has_wheel(commit)) build_another(commit);
  }
  // The same, also where there is a wheel that no builder here has made.
  void build_another(int commit) {
    if (!awaits_build(commit)) return;
    for (const auto* list : {&running_, &queued_})
      for (const Build& one : *list)
        if (group(one.commit) == group(commit)) return;
    queued_.push_back({commit, 0});
    begin_queued();
  }
  void abandon(int commit) {
    abandoned_ += static_cast<int>(std::erase_if(
        running_, [&](const Build& one) { return group(one.commit) == group(commit); }));
    begin_queued();
  }
  // Whether the wheel was not asked for, or is not done.
  bool awaits(int commit) const { return !has_wheel(commit) && !failed_.contains(group(commit)); }
  bool awaits_build(int commit) const {
    return !failed_.contains(group(commit)) &&
           std::find(made_.begin(), made_.end(), group(commit)) == made_.end();
  }

  void advance(double time) {
    const double until = now_ + time;
    while (!running_.empty() && next_end() <= until) end_next();
    now_ = until;
  }
  // Until the next build ends. There must be one.
  void wait_for_build() { end_next(); }

  // The machine fetches and installs the commit's build, once for each of its wheels. The ends' own
  // wheels are number 0, and are installed.
  void prepare(int commit, int wheel = 0) {
    if (prepared_.insert({commit, wheel}).second) advance(world_.preparation);
  }

  // What the search is told.
  void tell(bisect::SearchLog& log) const {
    log.costs.clear();
    for (int commit = 0; commit <= log.commits; ++commit)
      log.costs.push_back({group(commit), has_wheel(commit) ? 0 : world_.build,
                           is_prepared(commit) ? 0 : world_.preparation});
    log.building.clear();
    for (const Build& one : running_) log.building.push_back({one.commit, one.ends - now_});
  }
  int group(int commit) const { return world_.group[static_cast<std::size_t>(commit)]; }

 private:
  struct Build {
    int commit = 0;
    double ends = 0;
  };

  bool is_prepared(int commit) const {
    const auto first = prepared_.lower_bound({commit, 0});
    return first != prepared_.end() && first->first == commit;
  }
  void begin_queued() {
    while (!queued_.empty() && static_cast<int>(running_.size()) < world_.builders) {
      running_.push_back({queued_.front().commit, now_ + world_.build});
      queued_.erase(queued_.begin());
    }
  }
  std::vector<Build>::const_iterator first() const {
    return std::min_element(running_.begin(), running_.end(),
                            [](const Build& a, const Build& b) { return a.ends < b.ends; });
  }
  double next_end() const { return first()->ends; }
  void end_next() {
    const Build done = *first();
    now_ = done.ends;
    running_.erase(first());
    ++builds_;
    const bool fails = world_.broken_groups.contains(group(done.commit));
    (fails ? failed_ : wheels_).insert(group(done.commit));
    if (!fails) made_.push_back(group(done.commit));
    begin_queued();
  }

  const BuildWorld& world_;
  double now_ = 0;
  int builds_ = 0, abandoned_ = 0;
  std::set<int> wheels_, failed_;
  std::set<std::pair<int, int>> prepared_;  // commits and wheels
  std::vector<int> made_;
  std::vector<Build> running_, queued_;
};

struct TimedResult {
  JobResult job;
  double makespan = 0;
  int builds = 0, abandoned = 0;
};

// Drives the search under the clock, as the service does. `knows_costs`: it is told what builds
// cost. Otherwise it works as if no costs were known; its builders then make what it asks for.
// `known`: a prior, and commits that cannot be built here.
class TimedSearch {
 public:
  TimedSearch(World& world, const BuildWorld& builds, int commits, bisect::SearchPolicy policy,
              bool knows_costs, bisect::SearchLog known = {})
      : world_(world),
        clock_(builds, commits),
        builds_(builds),
        policy_(policy),
        knows_costs_(knows_costs),
        log_(std::move(known)) {
    log_.commits = commits;
    if (knows_costs) {
      policy_.seconds_per_run = 1;
      policy_.builders = builds.builders;
      policy_.abandons_builds = builds.abandons;
    } else {
      policy_.builds_at_once = builds.builders;
    }
  }

  TimedResult run() {
    for (;;) {
      if (knows_costs_) clock_.tell(log_);
      const auto next = bisect::next_step(log_, policy_);
      ++out_.job.steps;
      if (const auto* answer = std::get_if<bisect::Answer>(&next.step)) return ended(*answer);
      const auto& step = std::get<bisect::Measure>(next.step);
      for (const int commit : step.abandon) clock_.abandon(commit);
      for (const int commit : step.order) clock_.build(commit);
      for (const int commit : step.build_too) clock_.build(commit);
      const int asked = step.order.front();
      if (clock_.awaits(asked)) {
        clock_.wait_for_build();
        if (!knows_costs_)
          while (clock_.awaits(asked)) clock_.wait_for_build();
        learn_failures();
        if (knows_costs_) continue;
      }
      if (!knows_costs_) try_round(step.build_too);
      if (try_build(asked)) measure(step);
      learn_failures();
    }
  }

  const bisect::SearchLog& log() const { return log_; }

 private:
  static bool has(const std::vector<int>& list, int commit) {
    return std::find(list.begin(), list.end(), commit) != list.end();
  }

  TimedResult ended(const bisect::Answer& answer) {
    for (const auto& step : answer.culprits)
      out_.job.blamed.emplace_back(step.first - 1, step.last);
    out_.job.outcome = answer.outcome;
    out_.job.inconclusive = answer.outcome == bisect::Answer::Outcome::inconclusive;
    out_.makespan = clock_.now();
    out_.builds = clock_.builds();
    out_.abandoned = clock_.abandoned();
    return out_;
  }

  // Commits whose source does not compile are known as soon as one build of their group failed. The
  // search that knows no costs learns it of each commit when it asks for it.
  void learn_failures() {
    if (!knows_costs_) return;
    for (int commit = 1; commit < log_.commits; ++commit)
      if (clock_.failed().contains(clock_.group(commit)) && !has(log_.untestable, commit))
        log_.untestable.push_back(commit);
  }

  // Whether the commit can be measured now. Finds out if its build imports.
  bool try_build(int commit) {
    if (commit == 0 || commit == log_.commits || has(log_.built, commit)) return true;
    if (has(log_.untestable, commit)) return false;
    ++out_.job.attempts;
    if (clock_.failed().contains(clock_.group(commit)) || !clock_.has_wheel(commit)) {
      log_.untestable.push_back(commit);
      return false;
    }
    clock_.prepare(commit);
    (world_.buildable(commit) ? log_.built : log_.untestable).push_back(commit);
    return world_.buildable(commit);
  }
  // Beside the commit asked for, those of the round whose wheels are there.
  void try_round(const std::vector<int>& others) {
    for (const int commit : others)
      if (!clock_.awaits(commit)) try_build(commit);
  }

  void measure(const bisect::Measure& step) {
    constexpr double goes_on = 20;  // runs; after a longer pause it is another session
    const bool is_new = step.new_session || out_.job.runs == 0 || clock_.now() - last_ > goes_on;
    if (is_new) {
      world_.new_session();
      clock_.advance(builds_.session);
      ++out_.job.sessions;
    }
    for (const int commit : step.order) {
      clock_.prepare(commit);
      log_.runs.push_back({out_.job.sessions - 1, commit, std::exp(world_.measure(commit))});
      ++out_.job.runs;
      clock_.advance(1);
    }
    last_ = clock_.now();
  }

  World& world_;
  BuildClock clock_;
  const BuildWorld& builds_;
  bisect::SearchPolicy policy_;
  bool knows_costs_;
  bisect::SearchLog log_;
  double last_ = 0;
  TimedResult out_;
};

// `git bisect run` with `runs` runs a commit, whose builds are made one after the other.
template <class AnyWorld>
TimedResult timed_bisection(AnyWorld& world, const BuildWorld& builds, int commits, int runs) {
  BuildClock clock(builds, commits);
  const auto make = [&](int commit) {
    if (builds.builders == 0 && !clock.has_wheel(commit)) return false;
    clock.build(commit);
    while (clock.awaits(commit)) clock.wait_for_build();
    if (!clock.failed().contains(clock.group(commit)) && world.buildable(commit)) return true;
    if (clock.has_wheel(commit)) clock.prepare(commit);
    return false;
  };
  const auto measured = [&](int commit) {
    clock.prepare(commit);
    clock.advance(runs);
  };
  TimedResult out;
  out.job = bisection(world, commits, runs, make, measured);
  out.makespan = clock.now();
  out.builds = clock.builds();
  return out;
}

}  // namespace nightjar::test
