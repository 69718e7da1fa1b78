// What each commit takes until it can be measured, counted in runs of the search's own workload.
// Used inside `bisect/search` only.
#pragma once

#include <vector>

#include "bisect/search.hpp"

namespace nightjar::bisect::search {

// Keeps references to both arguments.
class Readiness {
 public:
  Readiness(const SearchLog& log, const SearchPolicy& policy);

  // Whether the log and the policy say what builds cost. If not, ask nothing else.
  bool is_known() const { return known_; }
  // Whether a builder must still make or finish the commit's wheel.
  bool needs_builder(int commit) const { return wait_[at(commit)] > 0; }
  // Until a builder has made the wheel; 0: it needs none. The wait for a free builder is included.
  double wait(int commit) const { return wait_[at(commit)]; }
  // What the measuring machine does with the wheel before the first run.
  double preparation(int commit) const;
  // Returns wait() and preparation() together.
  double until_ready(int commit) const { return wait(commit) + preparation(commit); }
  // What a builder needs for the wheel, once it begins.
  double build(int commit) const;
  // Whether a builder makes the commit's wheel now.
  bool is_being_built(int commit) const;
  int idle_builders() const;
  // Until a commit that is measured already can be measured on another wheel: on one that is here,
  // or on one that a builder must make first.
  double another_build(bool of_builder) const;
  // The commits that a wheel of this commit serves, itself included; ascending.
  std::vector<int> served_with(int commit) const;

 private:
  static std::size_t at(int commit) { return static_cast<std::size_t>(commit); }
  // Until a builder is free.
  double queue() const;
  bool share_wheel(int a, int b) const;

  const SearchLog& log_;
  const SearchPolicy& policy_;
  bool known_;
  std::vector<double> wait_;
};

}  // namespace nightjar::bisect::search
