// The world in which the search is judged: runs with log-normal noise and one-sided outliers,
// sessions that drift, builds with a layout of their own, commits that do not build. All from one
// seed.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "bisect/search.hpp"

namespace nightjar::test {

struct Planted {
  int commit = 0;       // the first commit with the new level
  double effect = .07;  // +7 %
};

struct WorldOptions {
  int commits = 100;
  std::vector<Planted> planted;
  double cv = .03;
  double unbuildable = .1;
  double session_sd = .01;
  double layout_sd = .003;
  double outliers = .05;
  double largest_outlier = .30;
  double outlier_scale = 1;  // of outliers' logs
  std::vector<int> broken;   // commits that do not build, besides those drawn
};

class World {
 public:
  World(const WorldOptions& options, std::uint64_t seed)
      : options_(options),
        random_(seed),
        levels_(static_cast<std::size_t>(options.commits) + 1),
        buildable_(levels_.size(), true) {
    double level = 0;
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      level += step_at(static_cast<int>(i));
      levels_[i] = level + options.layout_sd * normal();
      buildable_[i] = uniform() >= options.unbuildable;
    }
    for (const int commit : options.broken) buildable_[static_cast<std::size_t>(commit)] = false;
    buildable_.front() = buildable_.back() = true;
    drift_ = options.session_sd * normal();
  }

  // Another workload on the same commits: what builds is the same, steps and layouts are its own.
  World another_workload(const std::vector<Planted>& planted) const {
    World out = *this;
    out.options_.planted = planted;
    double level = 0;
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      level += out.step_at(static_cast<int>(i));
      out.levels_[i] = level + options_.layout_sd * out.normal();
    }
    return out;
  }
  const std::vector<Planted>& planted() const { return options_.planted; }

  // What no measurement tells: the log level of a commit, layout included.
  double level(int commit) const { return levels_[static_cast<std::size_t>(commit)]; }
  bool buildable(int commit) const { return buildable_[static_cast<std::size_t>(commit)]; }
  void new_session() {
    constexpr double rho = .8;
    drift_ = rho * drift_ + std::sqrt(1 - rho * rho) * options_.session_sd * normal();
  }
  // The log value of one run.
  double measure(int commit) {
    double y = levels_[static_cast<std::size_t>(commit)] + drift_ + options_.cv * normal();
    if (uniform() < options_.outliers) {
      y += options_.outlier_scale * std::log(1.10 + (options_.largest_outlier - .10) * uniform());
    }
    return y;
  }
  // The cell (first, last] of builds that surrounds `commit`.
  std::pair<int, int> cell(int commit) const {
    int from = commit - 1, to = commit;
    while (!buildable(from)) --from;
    while (!buildable(to)) ++to;
    return {from, to};
  }
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  // Log step at this commit.
  double step_at(int commit) const {
    double step = 0;
    for (const Planted& planted : options_.planted)
      if (planted.commit == commit) step += std::log1p(planted.effect);
    return step;
  }
  double normal() {
    const double u = 1 - uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * uniform());
  }

 private:
  WorldOptions options_;
  std::mt19937_64 random_;
  std::vector<double> levels_;
  std::vector<bool> buildable_;
  double drift_ = 0;
};

struct JobResult {
  std::vector<std::pair<int, int>> blamed;   // (last good build, first bad build]
  std::vector<std::pair<int, int>> smaller;  // located, and not blamed
  bisect::SearchOutcome outcome = bisect::SearchOutcome::inconclusive;
  bool inconclusive = false;
  int attempts = 0, rounds = 0, runs = 0, sessions = 0, steps = 0;  // rounds: of builds
};

// Drives next_step to its answer, as the service does. `known`: builds and a prior from before.
inline JobResult search(World& world, int commits, const bisect::SearchPolicy& policy,
                        bisect::SearchLog* final_log = nullptr,
                        const bisect::SearchLog& known = {}) {
  bisect::SearchLog log = known;
  log.commits = commits;
  JobResult out;
  int session = -1;
  for (;;) {
    const auto next = bisect::next_step(log, policy);
    ++out.steps;
    if (const auto* answer = std::get_if<bisect::Answer>(&next.step)) {
      for (const auto& step : answer->culprits) out.blamed.emplace_back(step.first - 1, step.last);
      for (const auto& step : answer->smaller) out.smaller.emplace_back(step.first - 1, step.last);
      out.outcome = answer->outcome;
      out.inconclusive = answer->outcome == bisect::Answer::Outcome::inconclusive;
      if (final_log) *final_log = log;
      return out;
    }
    const auto& measure = std::get<bisect::Measure>(next.step);
    std::vector<int> wanted = measure.order;
    wanted.insert(wanted.end(), measure.build_too.begin(), measure.build_too.end());
    const int attempts_before = out.attempts;
    auto has = [](const std::vector<int>& list, int commit) {
      return std::find(list.begin(), list.end(), commit) != list.end();
    };
    for (int commit : wanted) {
      if (commit == 0 || commit == commits || has(log.built, commit)) continue;
      if (has(log.untestable, commit)) continue;
      ++out.attempts;
      (world.buildable(commit) ? log.built : log.untestable).push_back(commit);
    }
    out.rounds += out.attempts > attempts_before;
    if (has(log.untestable, measure.order.front())) continue;
    if (measure.new_session) {
      world.new_session();
      ++session;
      ++out.sessions;
    }
    for (int commit : measure.order) {
      log.runs.push_back({session, commit, std::exp(world.measure(commit))});
      ++out.runs;
    }
  }
}

// As the service searches a night's second workload: with the builds that the first one's search
// made, and half of the prior on the commits that it blamed. `world` is the second's; attempts and
// runs are its alone.
inline JobResult second_search(World& world, int commits, const bisect::SearchPolicy& policy,
                               bool same_culprit) {
  std::vector<Planted> planted = world.planted();
  for (Planted& step : planted)
    if (!same_culprit) step.commit = 1 + (step.commit + commits / 2) % commits;
  World first = world.another_workload(planted);
  bisect::SearchLog known;
  const JobResult before = search(first, commits, policy, &known);
  known.runs.clear();
  known.prior.assign(static_cast<std::size_t>(commits), 1);
  for (const auto& [good, bad] : before.blamed)
    for (int commit = good + 1; commit <= bad; ++commit)
      known.prior[static_cast<std::size_t>(commit) - 1] =
          static_cast<double>(commits) / (bad - good);
  return search(world, commits, policy, nullptr, known);
}

}  // namespace nightjar::test
