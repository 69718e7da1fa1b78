// Drives the search through a day whose wheels have effects, as the service does: under the clock,
// with a builder, from the confirmation of the two nightlies to the answer. Used by the benchmark
// and the tests of wheels.
#pragma once

#include <stdexcept>
#include <string>

#include "tests/support/wheel_world.hpp"

namespace nightjar::test {

struct WheelResult {
  std::vector<bisect::NamedStep> culprits;
  bisect::SearchOutcome outcome = bisect::SearchOutcome::inconclusive;
  int runs = 0, steps = 0, builds = 0;
  double makespan = 0;
};

// `knows_wheels`: the search is told of wheels and their origins, and says which to measure on.
// Otherwise each commit is measured on its usual wheel, of which the search knows nothing.
class WheelSearch {
 public:
  WheelSearch(WheelDay& day, bisect::SearchPolicy policy, bool knows_wheels)
      : day_(day),
        clock_(day.builds(), day.commits()),
        policy_(policy),
        knows_wheels_(knows_wheels),
        wheels_(day.wheels()) {
    policy_.seconds_per_run = 1;
    policy_.builders = std::max(1, day.builds().builders);  // of none nothing is asked
    policy_.abandons_builds = true;
    policy_.build_cost = day.builds().build;
    log_.commits = day.commits();
    if (day.builds().builders == 0)
      for (int commit = 1; commit < day.commits(); ++commit)
        if (!clock_.has_wheel(commit)) log_.untestable.push_back(commit);
  }

  WheelResult run() {
    confirm_nightlies();
    for (;;) {
      tell();
      const auto next = bisect::next_step(log_, policy_);
      ++out_.steps;
      if (const auto* answer = std::get_if<bisect::Answer>(&next.step)) return ended(*answer);
      const auto& step = std::get<bisect::Measure>(next.step);
      for (const int commit : step.abandon) clock_.abandon(commit);
      if (start_builds(step)) {
        clock_.wait_for_build();
        continue;
      }
      if (try_commits(step)) measure(step);
    }
  }

  const bisect::SearchLog& log() const { return log_; }

 private:
  static bool has(const std::vector<int>& list, int commit) {
    return std::find(list.begin(), list.end(), commit) != list.end();
  }
  WheelResult ended(const bisect::Answer& answer) {
    out_.culprits = answer.culprits;
    out_.outcome = answer.outcome;
    out_.runs = static_cast<int>(log_.runs.size());
    out_.builds = clock_.builds();
    out_.makespan = clock_.now();
    return out_;
  }

  void confirm_nightlies() {
    constexpr int runs = 10;  // a side
    begin_session();
    for (int i = 0; i < 2 * runs; ++i) measure_once(i % 2 ? day_.commits() : 0, i % 2);
  }

  // What is known of wheels and builds now.
  void tell() {
    for (; wheels_made_ < clock_.made().size(); ++wheels_made_)
      wheels_.push_back(day_.source_wheel(clock_.made()[wheels_made_]));
    for (int commit = 1; commit < log_.commits; ++commit)
      if (!clock_.has_wheel(commit) && !clock_.awaits(commit) && !has(log_.untestable, commit))
        log_.untestable.push_back(commit);
    clock_.tell(log_);
    if (!knows_wheels_) return;
    log_.origins.clear();
    log_.wheels.assign(static_cast<std::size_t>(log_.commits) + 1, {});
    log_.builder_origin = day_.builds().builders > 0 ? origin_of(WheelOrigin::source, 0) : -1;
    for (std::size_t i = 0; i < wheels_.size(); ++i) {
      log_.origins.push_back(origin_of(wheels_[i].origin, static_cast<int>(i)));
      for (int commit = 0; commit <= log_.commits; ++commit)
        if (day_.serves(wheels_[i], commit))
          log_.wheels[static_cast<std::size_t>(commit)].push_back(static_cast<int>(i));
    }
  }

  // Each nightly is an origin of its own, since what built it may have changed from day to day.
  static int origin_of(WheelOrigin origin, int wheel) {
    return origin == WheelOrigin::nightly ? wheel : 1 + static_cast<int>(origin);
  }

  // Returns whether what is to be measured needs a build that is not done.
  bool start_builds(const bisect::Measure& step) {
    bool waits = false;
    const auto build = [&](int commit, bool another) {
      another ? clock_.build_another(commit) : clock_.build(commit);
      return another ? clock_.awaits_build(commit) : clock_.awaits(commit);
    };
    for (std::size_t i = 0; i < step.order.size(); ++i)
      if (step.wheels.empty() || step.wheels[i] < 0)
        waits |= build(step.order[i], !step.wheels.empty());
    for (const int commit : step.build_too) build(commit, !step.wheels.empty());
    if (waits && day_.builds().builders == 0)
      throw std::logic_error("the search waits for a wheel that nobody makes");
    return waits;
  }

  // Finds out which of the commits import. Returns whether all do.
  bool try_commits(const bisect::Measure& step) {
    bool all = true;
    for (std::size_t i = 0; i < step.order.size(); ++i) {
      const int commit = step.order[i];
      if (commit == 0 || commit == log_.commits || has(log_.built, commit)) continue;
      if (!has(log_.untestable, commit)) {
        prepare(commit, wheel_of(step, i));
        (day_.testable(commit) ? log_.built : log_.untestable).push_back(commit);
      }
      all = all && day_.testable(commit);
    }
    return all;
  }

  void begin_session() {
    day_.new_session();
    clock_.advance(day_.builds().session);
    ++session_;
  }
  void measure(const bisect::Measure& step) {
    constexpr double goes_on = 20;  // runs; after a longer pause it is another session
    if (step.new_session || clock_.now() - last_ > goes_on) begin_session();
    for (std::size_t i = 0; i < step.order.size(); ++i)
      measure_once(step.order[i], wheel_of(step, i));
  }
  // The index of the wheel of a run in the step's order.
  int wheel_of(const bisect::Measure& step, std::size_t run) const {
    if (!step.wheels.empty() && step.wheels[run] >= 0) return step.wheels[run];
    const int commit = step.order[run];
    return index_of(step.wheels.empty() ? day_.usual_wheel(commit)
                                        : day_.source_wheel(group_of(commit)));
  }
  int index_of(const DayWheel& wheel) const {
    const auto found = std::find(wheels_.begin(), wheels_.end(), wheel);
    if (found == wheels_.end()) throw std::logic_error("there is no such wheel yet");
    return static_cast<int>(found - wheels_.begin());
  }
  int group_of(int commit) const { return day_.builds().group[static_cast<std::size_t>(commit)]; }
  void prepare(int commit, int wheel) {
    const bool is_own = wheel == (commit == 0 ? 0 : 1) && (commit == 0 || commit == log_.commits);
    clock_.prepare(commit, is_own ? 0 : wheel + 1);
  }
  void measure_once(int commit, int wheel) {
    prepare(commit, wheel);
    const double value = day_.measure(commit, wheels_.at(static_cast<std::size_t>(wheel)));
    log_.runs.push_back({session_, commit, std::exp(value), knows_wheels_ ? wheel : -1});
    clock_.advance(1);
    last_ = clock_.now();
  }

  WheelDay& day_;
  BuildClock clock_;
  bisect::SearchPolicy policy_;
  bool knows_wheels_;
  std::vector<DayWheel> wheels_;
  std::size_t wheels_made_ = 0;
  bisect::SearchLog log_;
  int session_ = -1;
  double last_ = 0;
  WheelResult out_;
};

}  // namespace nightjar::test
