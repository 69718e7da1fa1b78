// Several builds at once, their costs unknown: a round builds the quantiles of the posterior
// instead of its median.
#include <algorithm>
#include <cmath>

#include "bisect/search/decide.hpp"
#include "bisect/search/isolation.hpp"

namespace nightjar::bisect::search {
namespace {

bool contains(const std::vector<int>& commits, int commit) {
  return std::find(commits.begin(), commits.end(), commit) != commits.end();
}

}  // namespace

std::vector<double> culprit_distribution(const Posterior& posterior, const SearchLog& log) {
  const Data& data = posterior.data;
  std::vector<double> at(static_cast<std::size_t>(log.commits) + 1);
  for (std::size_t i = 0; i < posterior.fits.size(); ++i) {
    const Hypothesis& h = posterior.fits[i].hypothesis;
    for (int k = 0; h.kind == Kind::steps && k < h.count; ++k) {
      const auto gap = static_cast<std::size_t>(h.gaps[static_cast<std::size_t>(k)]);
      const int from = data.commits[gap] + 1, to = data.commits[gap + 1];
      double mass = 0;
      auto prior = [&](int commit) {
        return log.prior.empty() ? 1 : log.prior[static_cast<std::size_t>(commit) - 1];
      };
      for (int c = from; c <= to; ++c) mass += prior(c);
      for (int c = from; c <= to; ++c) {
        const double share = mass > 0 ? prior(c) / mass : 1.0 / (to - from + 1);
        at[static_cast<std::size_t>(c)] += posterior.share[i] * share;
      }
    }
  }
  double sum = 0;
  for (double& p : at) p = sum += p;
  if (sum > 0) {
    for (double& p : at) p /= sum;
  }
  return at;
}

void build_in_rounds(Measure& measure, const Posterior& posterior, const SearchLog& log,
                     const SearchPolicy& policy) {
  auto unbuilt = [&](int commit) {
    return !contains(posterior.data.commits, commit) && !contains(log.built, commit) &&
           !contains(log.untestable, commit);
  };
  const int asked = measure.order.front();
  if (policy.builds_at_once < 2 || !unbuilt(asked)) return;
  const std::vector<double> below = culprit_distribution(posterior, log);
  auto distance = [&](int commit, double quantile) {
    return std::abs(below[static_cast<std::size_t>(commit)] - quantile);
  };
  std::vector<int> round;
  for (int j = 1; j <= policy.builds_at_once; ++j) {
    const double quantile = j / (policy.builds_at_once + 1.0);
    int best = -1;
    for (int commit = 1; commit < log.commits; ++commit) {
      if (!unbuilt(commit) || contains(round, commit)) continue;
      if (best < 0 || distance(commit, quantile) < distance(best, quantile)) best = commit;
    }
    if (best >= 0) round.push_back(best);
  }
  const double wanted = below[static_cast<std::size_t>(asked)];
  const auto first = std::min_element(round.begin(), round.end(), [&](int a, int b) {
    return distance(a, wanted) < distance(b, wanted);
  });
  std::fill(measure.order.begin(), measure.order.end(), *first);
  std::fill(measure.wheels.begin(), measure.wheels.end(),
            usual_wheel_of(*first, posterior.data, log));
  round.erase(first);
  measure.build_too = std::move(round);
}

}  // namespace nightjar::bisect::search
