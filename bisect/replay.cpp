#include "bisect/replay.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <stdexcept>

#include "bisect/reliability.hpp"
#include "bisect/statistics.hpp"

namespace nightjar::bisect {
namespace {

constexpr std::size_t fewest_builds = 6, fewest_runs_a_build = 3;

// Deviations of runs and of sessions, in logs.
struct Recorded {
  std::vector<double> runs, sessions;
};

Recorded recorded(std::span<const std::vector<double>> builds) {
  Recorded out;
  double before = 0;
  for (const std::vector<double>& values : builds) {
    if (values.size() < fewest_runs_a_build) continue;
    const auto n = static_cast<double>(values.size());
    const double level = median(values), widened = std::sqrt(n / (n - 1));
    for (const double value : values) out.runs.push_back(widened * std::log(value / level));
    if (before > 0) out.sessions.push_back(std::log(level / before) / std::sqrt(2));
    before = level;
  }
  return out;
}

// Commits with known levels; measuring one draws from the recorded deviations.
class Replayed {
 public:
  Replayed(Recorded recorded, const ReplayOptions& options)
      : recorded_(std::move(recorded)),
        random_(options.seed),
        step_(std::log1p(options.planted)),
        culprit_(1 + static_cast<int>(random_() % static_cast<std::uint64_t>(options.commits))) {}

  int culprit() const { return culprit_; }
  void new_session() { session_ = draw(recorded_.sessions); }
  double measure(int commit) {
    return std::exp((commit >= culprit_ ? step_ : 0) + session_ + draw(recorded_.runs));
  }

 private:
  double draw(const std::vector<double>& from) { return from[random_() % from.size()]; }

  Recorded recorded_;
  std::mt19937_64 random_;
  double step_, session_ = 0;
  int culprit_;
};

// `culprit`: the commit with the step; -1: none has one.
ReplayOutcome outcome_of(const Answer& answer, int culprit) {
  if (answer.culprits.empty()) return ReplayOutcome::nobody;
  const NamedStep& named = answer.culprits.front();
  const bool right = answer.culprits.size() == 1 && named.first == culprit && named.last == culprit;
  return right ? ReplayOutcome::exact : ReplayOutcome::innocent;
}

bool holds(int first, int last, int culprit) {
  return first <= culprit && culprit <= last;
}

// What a search believes of its likeliest commit, once for each bin of probability.
class Suspicions {
 public:
  explicit Suspicions(int culprit) : culprit_(culprit) {}

  void note(const Belief& belief) {
    const auto single = [](const CellMass& cell) { return cell.first == cell.last; };
    const auto best = std::find_if(belief.cells.begin(), belief.cells.end(), single);
    if (best == belief.cells.end()) return;
    if (bins_.insert(probability_bin(best->probability)).second)
      all.push_back({best->probability, best->first == culprit_});
  }

  std::vector<Prediction> all;

 private:
  int culprit_;
  std::set<std::size_t> bins_;
};

}  // namespace

bool can_replay(std::span<const std::vector<double>> builds) {
  std::size_t usable = 0;
  for (const std::vector<double>& values : builds) usable += values.size() >= fewest_runs_a_build;
  return usable >= fewest_builds;
}

Replay replay(std::span<const std::vector<double>> builds, const ReplayOptions& options,
              const SearchPolicy& policy) {
  if (!can_replay(builds)) throw std::invalid_argument("too few recorded runs to be drawn from");
  Replayed world(recorded(builds), options);
  SearchLog log;
  log.commits = options.commits;
  const int planted_at = options.planted > 0 ? world.culprit() : -1;
  Suspicions suspicions(planted_at);
  int session = -1;
  for (;;) {
    const NextStep next = next_step(log, policy);
    suspicions.note(next.belief);
    if (const auto* answer = std::get_if<Answer>(&next.step)) {
      Replay found{outcome_of(*answer, planted_at),
                   static_cast<int>(log.runs.size()),
                   {},
                   std::move(suspicions.all)};
      for (const NamedStep& step : answer->culprits)
        found.named.push_back({step.probability, holds(step.first, step.last, planted_at)});
      return found;
    }
    const auto& step = std::get<Measure>(next.step);
    if (step.new_session) {
      ++session;
      world.new_session();
    }
    for (const int commit : step.order)
      log.runs.push_back({session, commit, world.measure(commit)});
    for (const int commit : step.order)
      if (std::find(log.built.begin(), log.built.end(), commit) == log.built.end())
        log.built.push_back(commit);
  }
}

}  // namespace nightjar::bisect
