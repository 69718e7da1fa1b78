// On which wheels two commits are compared, so that nothing but the commits differs. Used inside
// `bisect/search` only.
#pragma once

#include <vector>

#include "bisect/search/posterior.hpp"

namespace nightjar::bisect::search {

// How well a pair of wheels isolates a step: not at all, across a bridge whose effect was measured,
// as wheels of one origin, or as one wheel.
enum class Means { nothing, bridge, origin, wheel };

// Wheels by their numbers in the log; -1: wheels play no part. `difference`: what the bad side's
// wheel adds, to be taken off; 0 unless it was measured.
struct Sides {
  int good = -1, bad = -1;
  Means means = Means::wheel;
  double difference = 0;
};
// Returns the wheels of the commits beside a gap that best isolate a step of this size.
Sides sides_of(int gap, double size, const Posterior& posterior, const SearchLog& log);
// Whether each of these gaps, which hold steps of the fit, can be isolated.
bool all_isolated(const std::vector<int>& gaps, int fit, const Posterior& posterior,
                  const SearchLog& log);

// What the wheels of the two ends do, where no commit does anything. `known`: a chain of commits
// that were measured on two wheels each, and of wheels of one origin, leads from one to the other.
struct EndWheels {
  double difference = 0, sd = 1;
  bool known = false;
};
EndWheels end_wheels(const Posterior& posterior);
// Whether the ends certainly differ, be it by commits or by their wheels. Only with wheels.
bool ends_are_apart(const Posterior& posterior);

// The wheel for a commit of which nothing else is asked: one that a neighbour was measured on, or
// the first that serves it; -1: none does, or wheels play no part.
int usual_wheel_of(int commit, const Data& data, const SearchLog& log);
// The wheels that are worth considering for a commit in this gap. -1: a builder's.
std::vector<int> wheels_for(int commit, int gap, const Data& data, const SearchLog& log);
// The wheels that would make a bridge of the measured commit of this rank. -1: a builder's.
std::vector<int> bridges_at(int rank, const Data& data, const SearchLog& log);

}  // namespace nightjar::bisect::search
