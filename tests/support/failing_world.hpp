// A repository with a test that fails at one rate before a commit and at another from it on, and
// those who search for that commit. Used by the benchmark and the tests of failures.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "bisect/search.hpp"

namespace nightjar::test {

class FailingWorld {
 public:
  FailingWorld(double before, double after, std::uint64_t seed, int commits = 100)
      : before_(before), after_(after), commits_(commits), random_(0x9e3779b97f4a7c15ULL + seed) {
    culprit_ = 1 + static_cast<int>(random_() % static_cast<std::uint64_t>(commits));
  }

  int commits() const { return commits_; }
  int culprit() const { return culprit_; }
  int runs() const { return runs_; }
  bool fails(int commit) {
    ++runs_;
    const double drawn = static_cast<double>(random_() >> 11) * 0x1p-53;
    return drawn < (commit < culprit_ ? before_ : after_);
  }

 private:
  double before_, after_;
  int commits_, culprit_ = 1, runs_ = 0;
  std::mt19937_64 random_;
};

struct FailureResult {
  std::vector<int> blamed;
  bisect::Answer answer = {};
};

inline FailureResult failure_search(FailingWorld& world, bisect::SearchPolicy policy = {}) {
  policy.of_failures = true;
  policy.threshold = .02;
  policy.max_runs = 3000;
  policy.build_cost = 1;
  bisect::SearchLog log;
  log.commits = world.commits();
  int session = 0;
  for (;;) {
    const auto next = bisect::next_step(log, policy);
    if (const auto* answer = std::get_if<bisect::Answer>(&next.step)) {
      FailureResult out{{}, *answer};
      for (const auto& step : answer->culprits) out.blamed.push_back(step.last);
      return out;
    }
    const auto& measure = std::get<bisect::Measure>(next.step);
    session += measure.new_session && !log.runs.empty();
    for (const int commit : measure.order) {
      log.runs.push_back({session, commit, world.fails(commit) ? 1.0 : 0.0});
      log.built.push_back(commit);
    }
  }
}

// `git bisect run`: one run of each commit that it tries, and none of the ends.
inline FailureResult one_run_each(FailingWorld& world) {
  int low = 0, high = world.commits();
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (world.fails(middle) ? high : low) = middle;
  }
  return {{high}};
}

// The rule of "Flake Aware Culprit Finding" (Henderson, Dolan and others, ICST 2023), from its
// description: a prior over commits and over nobody, a known rate of flaky failures, and failure
// for certain from the culprit on. Runs the commit that halves the distribution, until one
// hypothesis is certain. Begins with what was reported, one failure of the bad end. Stops after 480
// runs without a blame.
inline FailureResult flake_aware(FailingWorld& world, double flakes) {
  constexpr double nobody = .30, certainty = .99;
  const auto n = static_cast<std::size_t>(world.commits());
  std::vector<double> share(n + 2, (1 - nobody) / static_cast<double>(n));  // n + 1: nobody
  share[0] = 0;
  share[n + 1] = nobody;
  const auto observe = [&](std::size_t commit, bool failed) {
    double sum = 0;
    for (std::size_t c = 1; c < share.size(); ++c) {
      const double rate = c <= commit ? 1 : flakes;
      sum += share[c] *= failed ? rate : 1 - rate;
    }
    for (double& one : share) one = sum > 0 ? one / sum : 0;
  };
  observe(n, true);
  for (int runs = 0; runs < 480; ++runs) {
    for (std::size_t c = 1; c < share.size(); ++c)
      if (share[c] >= certainty)
        return c > n ? FailureResult{} : FailureResult{{static_cast<int>(c)}};
    std::size_t best = n;
    double below = 0, nearest = 2;
    for (std::size_t c = 1; c <= n; ++c) {
      below += share[c];
      if (std::abs(below - .5) >= nearest) continue;
      nearest = std::abs(below - .5);
      best = c;
    }
    observe(best, world.fails(static_cast<int>(best)));
  }
  return {};
}

}  // namespace nightjar::test
