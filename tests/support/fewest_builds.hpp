// How few builds any search of a day can do with, however it chooses: the bound that the benchmark
// of builds prints beside ours.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "tests/support/build_clock.hpp"

namespace nightjar::test {

// A search without noise, which knows from the start which groups compile. With one build of a
// group, all of its commits are tested: the culprit lies before them, after them, or between two of
// them. So a search is a tree over the groups that have no wheel, and dynamic programming finds the
// best one.
class FewestBuilds {
 public:
  // `weights` of the commits 1..N: how likely each is the culprit. Those that do not compile have
  // none.
  FewestBuilds(const BuildWorld& world, std::vector<double> weights) {
    double open = 0;  // of the commits since the last one that compiles
    for (std::size_t commit = 0; commit < world.group.size(); ++commit) {
      const int group = world.group[commit];
      const bool broken = world.broken_groups.contains(group);
      const double weight = commit == 0 || broken ? 0 : weights[commit - 1];
      total_ += weight;
      open += weight;
      if (broken) continue;
      if (!parts_.empty() && parts_.back().group == group) {
        parts_.back().inside += open;
      } else {
        parts_.push_back({group, open, 0, world.wheels.contains(group)});
      }
      open = 0;
    }
  }

  // The largest chance that `builds` are enough to name the culprit alone.
  double chance_with(int builds) const {
    return (inside_of_ends() + chance(0, parts_.size() - 1, builds)) / total_;
  }
  // The smallest expected number of builds that name the culprit alone.
  double mean() const { return expected(0, parts_.size() - 1) / total_; }

 private:
  struct Part {  // neighbouring commits of one group, which may return later
    int group = 0;
    double before = 0;  // chance that the culprit's change leads from the part before to this one
    double inside = 0;  // chance that it lies between two commits of this part
    bool has_wheel = false;
  };

  double inside_of_ends() const {
    return parts_.front().inside + (parts_.size() > 1 ? parts_.back().inside : 0);
  }
  // Between two parts that were tested, neither of them included.
  double chance_between(std::size_t left, std::size_t right) const {
    double sum = 0;
    for (std::size_t i = left + 1; i <= right; ++i)
      sum += parts_[i].before + (i < right ? parts_[i].inside : 0);
    return sum;
  }
  // The ways to go on between two parts that were tested: lists of parts that are then tested. All
  // wheels that are there; else the parts of one group.
  std::vector<std::vector<std::size_t>> choices(std::size_t left, std::size_t right) const {
    std::map<int, std::vector<std::size_t>> by_group;
    std::vector<std::size_t> free;
    for (std::size_t i = left + 1; i < right; ++i)
      (parts_[i].has_wheel ? free : by_group[parts_[i].group]).push_back(i);
    if (!free.empty()) return {free};
    std::vector<std::vector<std::size_t>> out;
    for (auto& [group, parts] : by_group) out.push_back(std::move(parts));
    return out;
  }

  double chance(std::size_t left, std::size_t right, int builds) const {
    double best = left + 1 >= right ? chance_between(left, right) : 0;
    for (std::vector<std::size_t>& tested : choices(left, right)) {
      const int rest = parts_[tested.front()].has_wheel ? builds : builds - 1;
      if (rest < 0) continue;
      double sum = 0;
      std::size_t at = left;
      tested.push_back(right);
      for (const std::size_t next : tested) {
        sum += chance(at, next, rest) + (next < right ? parts_[next].inside : 0);
        at = next;
      }
      best = std::max(best, sum);
    }
    return best;
  }
  double expected(std::size_t left, std::size_t right) const {
    if (left + 1 >= right) return 0;
    const auto [known, is_new] = expected_.try_emplace({left, right});
    if (!is_new) return known->second;
    double best = std::numeric_limits<double>::infinity();
    for (std::vector<std::size_t>& tested : choices(left, right)) {
      double sum = parts_[tested.front()].has_wheel ? 0 : chance_between(left, right);
      std::size_t at = left;
      tested.push_back(right);
      for (const std::size_t next : tested) {
        sum += expected(at, next);
        at = next;
      }
      best = std::min(best, sum);
    }
    return known->second = best;
  }

  std::vector<Part> parts_;
  mutable std::map<std::pair<std::size_t, std::size_t>, double> expected_;
  double total_ = 0;
};

}  // namespace nightjar::test
