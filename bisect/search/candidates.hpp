// Which commits between two measured ones are worth considering. Used inside `bisect/search` only.
#pragma once

#include <vector>

#include "bisect/search/model.hpp"
#include "bisect/search/readiness.hpp"

namespace nightjar::bisect::search {

// A commit with the share of its gap's mass at or below it.
struct Candidate {
  int commit = 0;
  double below = 0;

  bool operator==(const Candidate&) const = default;
};

// Whether a build must be made before the commit can be measured.
bool needs_build(int commit, const SearchLog& log, const Readiness& readiness);

// Keeps references to all its arguments.
class CandidateFinder {
 public:
  // `builds_too`: also commits that need a build.
  CandidateFinder(const Data& data, const SearchLog& log, const Readiness& readiness,
                  bool builds_too)
      : data_(data), log_(log), readiness_(readiness), builds_too_(builds_too) {}

  // The gap's midpoint and the posterior median. With costs, for each of the two also the cheaper
  // commits beside it, each of which splits better than all that are cheaper still. `here` is the
  // gap's mass, `left` that of the gaps before it.
  std::vector<Candidate> operator()(int gap, double left, double here) const;

 private:
  std::vector<Candidate> usable_in(int gap) const;
  template <class Distance>
  std::vector<Candidate> worth_their_cost(std::vector<Candidate> usable, Distance distance) const;

  const Data& data_;
  const SearchLog& log_;
  const Readiness& readiness_;
  bool builds_too_;
};

}  // namespace nightjar::bisect::search
