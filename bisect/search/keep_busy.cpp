// What idle builders and runners do while a step is measured. Each gets what splits the culprit's
// distribution best, beside what can be measured anyway and what the others do. So builders make
// what the search would ask for next, whatever the step shows.
#include <algorithm>
#include <cmath>

#include "bisect/search/decide.hpp"
#include "bisect/search/partition.hpp"
#include "bisect/search/readiness.hpp"

namespace nightjar::bisect::search {
namespace {

// Expected bits under which a build, or a measurement beside, is not worth beginning.
constexpr double least_gain = .10;
// Expected bits under which a build in progress is no longer needed.
constexpr double useless_gain = .01;
// After the builds were chosen one by one, each is chosen again beside the others. From medians and
// quartiles this leads to quantiles.
constexpr int exchanges = 3;

class Planner {
 public:
  Planner(const Posterior& posterior, const SearchLog& log, const SearchPolicy& policy)
      : posterior_(posterior),
        log_(log),
        policy_(policy),
        readiness_(log, policy),
        below_(culprit_distribution(posterior, log)) {}

  void plan(Measure& measure) const {
    if (may_build(posterior_)) {
      plan_builds(measure);
    }
    plan_measurements(measure);
  }

 private:
  bool is_testable(int commit) const {
    return std::find(log_.untestable.begin(), log_.untestable.end(), commit) ==
           log_.untestable.end();
  }
  std::vector<int> testable_with(int commit) const {
    std::vector<int> out = readiness_.served_with(commit);
    std::erase_if(out, [&](int other) { return !is_testable(other); });
    return out;
  }

  // The cuts that need no further build.
  Partition without_builds() const {
    Partition out(below_);
    std::vector<int> ready;
    for (int commit = 0; commit <= log_.commits; ++commit) {
      if (is_testable(commit) && !readiness_.needs_builder(commit)) ready.push_back(commit);
    }
    out.cut(ready);
    return out;
  }

  Partition with_builds_but(int excepted) const {
    Partition out = without_builds();
    for (const BuildInProgress& one : log_.building) {
      if (one.commit != excepted) out.cut(testable_with(one.commit));
    }
    return out;
  }

  void plan_builds(Measure& measure) const {
    const bool fills_time = !measure.build_too.empty();
    const int asked = fills_time ? measure.build_too.front() : measure.order.front();
    const bool asks_builder = readiness_.needs_builder(asked) && !readiness_.is_being_built(asked);
    std::vector<int> useless = useless_builds(asked);
    // A build that cannot be abandoned may keep its builder from what the next step asks for. So
    // one builder is spared while a measurement may still change what that is.
    const int spared = policy_.abandons_builds || asks_builder ? 0 : 1;
    const int idle = readiness_.idle_builders() - spared;
    std::vector<int> chosen =
        best_builds(idle + static_cast<int>(useless.size()), asked, asks_builder);
    const int wanted = static_cast<int>(chosen.size());
    useless.resize(
        static_cast<std::size_t>(std::clamp(wanted - idle, 0, static_cast<int>(useless.size()))));
    measure.abandon = std::move(useless);
    if (asks_builder && !fills_time && !chosen.empty()) {
      const auto first = std::min_element(chosen.begin(), chosen.end(), [&](int a, int b) {
        return distance(a, asked) < distance(b, asked);
      });
      std::fill(measure.order.begin(), measure.order.end(), *first);
      std::fill(measure.wheels.begin(), measure.wheels.end(), -1);
      chosen.erase(first);
    }
    measure.build_too = std::move(chosen);
  }

  std::vector<int> useless_builds(int asked) const {
    std::vector<int> out;
    if (!policy_.abandons_builds) return out;
    for (const BuildInProgress& one : log_.building) {
      const std::vector<int> served = testable_with(one.commit);
      const bool is_asked = std::find(served.begin(), served.end(), asked) != served.end();
      if (!is_asked && with_builds_but(one.commit).gain(served) < useless_gain)
        out.push_back(one.commit);
    }
    return out;
  }

  double distance(int a, int b) const {
    return std::abs(below_[static_cast<std::size_t>(a)] - below_[static_cast<std::size_t>(b)]);
  }

  // Returns the best build for each of `builders`. The first one is of `asked` if that needs a
  // builder.
  std::vector<int> best_builds(int builders, int asked, bool asks_builder) const {
    std::vector<int> chosen;
    if (builders <= 0) return chosen;
    const Partition base = with_builds_but(-1);
    auto beside = [&](std::size_t excepted) {
      Partition out = base;
      for (std::size_t i = 0; i < chosen.size(); ++i)
        if (i != excepted) out.cut(testable_with(chosen[i]));
      return out;
    };
    if (asks_builder) chosen.push_back(asked);
    while (static_cast<int>(chosen.size()) < builders) {
      const int next = best_build(beside(chosen.size()));
      if (next < 0) break;
      chosen.push_back(next);
    }
    for (int round = 0; round < exchanges && chosen.size() > 1; ++round) {
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        const int better = best_build(beside(i));
        if (better >= 0) chosen[i] = better;
      }
    }
    return chosen;
  }

  // The commit whose wheel gives the most bits per time; -1: none is worth a build. Of the commits
  // that the wheel serves, it is the one that splits best.
  int best_build(const Partition& partition) const {
    int best = -1;
    double best_rate = 0, best_own = 0;
    for (int commit = 1; commit < log_.commits; ++commit) {
      if (!is_testable(commit) || !readiness_.needs_builder(commit) ||
          readiness_.is_being_built(commit))
        continue;
      const double gain = partition.gain(testable_with(commit));
      if (gain < least_gain) continue;
      const double rate = gain / (readiness_.build(commit) + readiness_.preparation(commit));
      const double own = partition.gain({commit});
      if (rate > best_rate || (rate == best_rate && own > best_own)) {
        best = commit;
        best_rate = rate;
        best_own = own;
      }
    }
    return best;
  }

  void plan_measurements(Measure& measure) const {
    Partition partition(below_);
    partition.cut(posterior_.data.commits);
    partition.cut({measure.order.front()});
    while (static_cast<int>(measure.measure_too.size()) + 1 < policy_.runners) {
      int best = -1;
      double best_gain = least_gain;
      for (int commit = 1; commit < log_.commits; ++commit) {
        if (!is_testable(commit) || readiness_.needs_builder(commit)) continue;
        const double gain = partition.gain({commit});
        if (gain > best_gain) {
          best = commit;
          best_gain = gain;
        }
      }
      if (best < 0) return;
      measure.measure_too.push_back(best);
      partition.cut({best});
    }
  }

  const Posterior& posterior_;
  const SearchLog& log_;
  const SearchPolicy& policy_;
  const Readiness readiness_;
  const std::vector<double> below_;
};

}  // namespace

void keep_all_busy(Measure& measure, const Posterior& posterior, const SearchLog& log,
                   const SearchPolicy& policy) {
  Planner(posterior, log, policy).plan(measure);
}

}  // namespace nightjar::bisect::search
