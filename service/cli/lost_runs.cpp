#include "service/cli/lost_runs.hpp"

#include <algorithm>
#include <cmath>

namespace nightjar::cli {
namespace {

constexpr double share_lost_by_broken = .95;
constexpr double broken_inside = .2, broken_end = .01;  // known before a run
constexpr double certain = .98;
// What commits that work lose. A smaller share would condemn after two lost runs; before there are
// runs it counts as if five had been seen.
constexpr double least_share_lost = .1, runs_known_before = 5;

double odds(double probability) {
  return std::log(probability / (1 - probability));
}
double worth_of_number(double share_lost) {
  return std::log((1 - share_lost_by_broken) / (1 - share_lost));
}

}  // namespace

// Only commits that gave any number count: one that does not work says nothing about others.
double LostRuns::share_lost_elsewhere(int commit) const {
  double lost = least_share_lost * runs_known_before, all = runs_known_before;
  for (const auto& [other, tally] : runs_) {
    if (other == commit || tally.given == 0) continue;
    lost += tally.lost;
    all += tally.lost + tally.given;
  }
  return std::clamp(lost / all, least_share_lost, .8);
}

void LostRuns::note(int commit, bool is_lost) {
  const double share = share_lost_elsewhere(commit);
  Tally& tally = runs_[commit];
  ++(is_lost ? tally.lost : tally.given);
  // However many numbers it gave, it may stop to work: more than one of them counts for nothing.
  tally.score = is_lost ? tally.score + std::log(share_lost_by_broken / share)
                        : std::max(tally.score, 0.) + worth_of_number(share);
}

bool LostRuns::condemn(int commit) const {
  const auto found = runs_.find(commit);
  if (found == runs_.end()) return false;
  return odds(is_end(commit) ? broken_end : broken_inside) + found->second.score >= odds(certain);
}

}  // namespace nightjar::cli
