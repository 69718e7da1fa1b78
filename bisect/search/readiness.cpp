#include "bisect/search/readiness.hpp"

#include <algorithm>

namespace nightjar::bisect::search {
namespace {

// A build that takes longer than expected is not done yet.
constexpr double overdue = 1e-3;

}  // namespace

Readiness::Readiness(const SearchLog& log, const SearchPolicy& policy)
    : log_(log), policy_(policy), known_(!log.costs.empty() && policy.seconds_per_run > 0) {
  if (!known_) return;
  const double queued = queue();
  for (int commit = 0; commit <= log.commits; ++commit) {
    double wait = 0;
    if (log.costs[at(commit)].build_seconds > 0) {
      wait = queued + build(commit);
      for (const BuildInProgress& one : log.building) {
        if (share_wheel(one.commit, commit))
          wait = std::min(wait, std::max(one.seconds_left / policy.seconds_per_run, overdue));
      }
    }
    wait_.push_back(wait);
  }
}

double Readiness::preparation(int commit) const {
  return log_.costs[at(commit)].prepare_seconds / policy_.seconds_per_run;
}

double Readiness::build(int commit) const {
  return log_.costs[at(commit)].build_seconds / policy_.seconds_per_run;
}

bool Readiness::is_being_built(int commit) const {
  return std::any_of(log_.building.begin(), log_.building.end(),
                     [&](const BuildInProgress& one) { return share_wheel(one.commit, commit); });
}

double Readiness::another_build(bool of_builder) const {
  double build = 0, prepare = 0;  // the dearest of all commits: which it will be is not known
  for (const CommitCost& cost : log_.costs) {
    build = std::max(build, cost.build_seconds);
    prepare = std::max(prepare, cost.prepare_seconds);
  }
  if (!of_builder) return prepare / policy_.seconds_per_run;
  return queue() + (build + prepare) / policy_.seconds_per_run;
}

int Readiness::idle_builders() const {
  return std::max(policy_.builders - static_cast<int>(log_.building.size()), 0);
}

std::vector<int> Readiness::served_with(int commit) const {
  std::vector<int> out;
  for (int other = 0; other <= log_.commits; ++other) {
    if (share_wheel(commit, other)) out.push_back(other);
  }
  return out;
}

double Readiness::queue() const {
  if (idle_builders() > 0) return 0;
  std::vector<double> left;
  for (const BuildInProgress& one : log_.building)
    left.push_back(one.seconds_left / policy_.seconds_per_run);
  std::sort(left.begin(), left.end());
  return left[left.size() - static_cast<std::size_t>(policy_.builders)];
}

bool Readiness::share_wheel(int a, int b) const {
  const int group = log_.costs[at(a)].group;
  return a == b || (group >= 0 && group == log_.costs[at(b)].group);
}

}  // namespace nightjar::bisect::search
