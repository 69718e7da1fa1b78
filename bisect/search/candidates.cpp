#include "bisect/search/candidates.hpp"

#include <algorithm>
#include <cmath>

namespace nightjar::bisect::search {
namespace {

// A dearer commit is considered if it splits its gap better than cheaper ones, by this factor.
constexpr double better_split = 1.02;

bool is_among(const std::vector<int>& commits, int commit) {
  return std::find(commits.begin(), commits.end(), commit) != commits.end();
}

double mass_of(int commit, const SearchLog& log) {
  return log.prior.empty() ? 1 : log.prior[static_cast<std::size_t>(commit) - 1];
}

// Bits of an answer that splits a mass so far from its middle.
double bits_of_split(double off_middle) {
  const double less = .5 - off_middle;
  if (less <= 0) return 0;
  return -less * std::log2(less) - (1 - less) * std::log2(1 - less);
}

}  // namespace

bool needs_build(int commit, const SearchLog& log, const Readiness& readiness) {
  return readiness.is_known() ? readiness.needs_builder(commit) : !is_among(log.built, commit);
}

std::vector<Candidate> CandidateFinder::operator()(int gap, double left, double here) const {
  const std::vector<Candidate> usable = usable_in(gap);
  const auto off_middle = [](const Candidate& one) { return std::abs(one.below - .5); };
  const auto off_median = [&](const Candidate& one) {
    return std::abs(left + here * one.below - .5);
  };
  std::vector<Candidate> out;
  const auto add = [&](const Candidate& one) {
    if (std::find(out.begin(), out.end(), one) == out.end()) out.push_back(one);
  };
  if (readiness_.is_known()) {
    for (const Candidate& one : worth_their_cost(usable, off_middle)) add(one);
    for (const Candidate& one : worth_their_cost(usable, off_median)) add(one);
    return out;
  }
  const auto add_nearest = [&](auto distance) {
    const auto nearest = std::min_element(
        usable.begin(), usable.end(),
        [&](const Candidate& a, const Candidate& b) { return distance(a) < distance(b); });
    if (nearest != usable.end()) add(*nearest);
  };
  add_nearest(off_middle);
  add_nearest(off_median);
  return out;
}

std::vector<Candidate> CandidateFinder::usable_in(int gap) const {
  const int from = data_.commits[static_cast<std::size_t>(gap)];
  const int to = data_.commits[static_cast<std::size_t>(gap) + 1];
  std::vector<Candidate> usable;
  double all = 0, below = 0;
  for (int commit = from + 1; commit <= to; ++commit) all += mass_of(commit, log_);
  for (int commit = from + 1; commit < to; ++commit) {
    below += mass_of(commit, log_);
    if (is_among(log_.untestable, commit)) continue;
    if (!builds_too_ && needs_build(commit, log_, readiness_)) continue;
    usable.push_back({commit, all > 0 ? below / all : .5});
  }
  return usable;
}

template <class Distance>
std::vector<Candidate> CandidateFinder::worth_their_cost(std::vector<Candidate> usable,
                                                         Distance distance) const {
  std::stable_sort(usable.begin(), usable.end(), [&](const Candidate& a, const Candidate& b) {
    const double cost_a = readiness_.until_ready(a.commit),
                 cost_b = readiness_.until_ready(b.commit);
    return cost_a < cost_b || (cost_a == cost_b && distance(a) < distance(b));
  });
  std::vector<Candidate> out;
  double best = 0;
  for (const Candidate& one : usable) {
    const double bits = bits_of_split(std::min(distance(one), .5));
    if (!out.empty() && bits <= better_split * best) continue;
    best = bits;
    out.push_back(one);
  }
  return out;
}

}  // namespace nightjar::bisect::search
