// Which commit to run next, where a run passes or fails.
#include <algorithm>
#include <cmath>

#include "bisect/search/failures.hpp"

namespace nightjar::bisect::search {
namespace {

constexpr std::size_t most_cases = 40;  // the likeliest hypotheses are told apart
constexpr double fewest_chance = .01;   // of a step in a gap, for the gap to be looked into
constexpr double as_good = .9;          // of the best worth: then more runs at once cost less time
constexpr std::array<int, 6> batches{1, 2, 4, 8, 16, 32};

// The rate at which a commit fails if this case holds.
struct Case {
  double share = 0, rate = 0;
};

bool is_listed(const std::vector<int>& list, int commit) {
  return std::find(list.begin(), list.end(), commit) != list.end();
}

double entropy_of_count(int runs, const std::vector<double>& chances) {
  double sum = 0;
  for (int k = 0; k <= runs; ++k) {
    const double chance = chances[static_cast<std::size_t>(k)];
    if (chance > 1e-12) sum -= chance * std::log2(chance);
  }
  return sum;
}

std::vector<double> binomial(int runs, double rate) {
  std::vector<double> out(static_cast<std::size_t>(runs) + 1);
  const double p = std::clamp(rate, 1e-4, 1 - 1e-4);
  out[0] = std::pow(1 - p, runs);
  for (int k = 1; k <= runs; ++k)
    out[static_cast<std::size_t>(k)] =
        out[static_cast<std::size_t>(k) - 1] * p / (1 - p) * (runs - k + 1) / k;
  return out;
}

// Bits that this many runs tell about the cases.
double information(const std::vector<Case>& cases, int runs) {
  std::vector<double> all(static_cast<std::size_t>(runs) + 1, 0.0);
  double known = 0, total = 0;
  for (const Case& one : cases) {
    const auto chances = binomial(runs, one.rate);
    for (std::size_t k = 0; k < all.size(); ++k) all[k] += one.share * chances[k];
    known += one.share * entropy_of_count(runs, chances);
    total += one.share;
  }
  for (double& chance : all) chance /= total;
  return entropy_of_count(runs, all) - known / total;
}

class FailureChooser {
 public:
  FailureChooser(const FailureData& data, const std::vector<FailureHypothesis>& hypotheses,
                 const SearchLog& log, const SearchPolicy& policy)
      : data_(data), hypotheses_(hypotheses), log_(log), policy_(policy) {}

  FailureChoice operator()() {
    for (std::size_t rank = 0; rank < data_.commits.size(); ++rank) {
      const int r = static_cast<int>(rank);
      const bool beside = (r > 0 && chance(r - 1) > fewest_chance) ||
                          (r < data_.gaps() && chance(r) > fewest_chance);
      if (beside || r == 0 || r == data_.gaps()) consider(data_.commits[rank], r, 0, 0);
    }
    for (int gap = 0; gap < data_.gaps(); ++gap)
      if (chance(gap) > fewest_chance) look_into(gap);
    return best_;
  }

 private:
  double chance(int gap) const {
    double sum = 0;
    for (const auto& one : hypotheses_)
      if (one.has(gap)) sum += one.share;
    return sum;
  }

  double prior_of(int commit) const {
    return log_.prior.empty() ? 1 : log_.prior[static_cast<std::size_t>(commit) - 1];
  }

  // The commit of the gap that can be measured and is nearest to halving the gap's mass.
  void look_into(int gap) {
    const int from = data_.commits[static_cast<std::size_t>(gap)];
    const int to = data_.commits[static_cast<std::size_t>(gap) + 1];
    double all = 0, below = 0, share = 0;
    for (int c = from + 1; c <= to; ++c) all += prior_of(c);
    int best = -1;
    for (int c = from + 1; c < to; ++c) {
      below += prior_of(c);
      if (is_listed(log_.untestable, c)) continue;
      if (best < 0 || std::abs(below / all - .5) < std::abs(share - .5)) {
        best = c;
        share = below / all;
      }
    }
    const bool needs_build = best >= 0 && !is_listed(log_.built, best);
    if (best >= 0) consider(best, gap, share, needs_build ? policy_.build_cost : 0);
  }

  // `share` > 0: a new commit within the gap `rank`, behind this share of the gap's mass.
  void consider(int commit, int rank, double share, double cost) {
    std::vector<Case> cases;
    for (std::size_t i = 0; i < std::min(most_cases, hypotheses_.size()); ++i) {
      const FailureHypothesis& one = hypotheses_[i];
      const bool inside = share > 0 && one.has(rank);
      std::size_t segment = 0;
      for (const int gap : one.gaps) segment += gap >= 0 && gap < rank;
      cases.push_back({one.share * (inside ? 1 - share : 1), one.rate[segment]});
      if (inside) cases.push_back({one.share * share, one.rate[segment + 1]});
    }
    std::array<double, batches.size()> worth{};
    for (std::size_t i = 0; i < batches.size(); ++i)
      worth[i] = information(cases, batches[i]) / (batches[i] + cost);
    const double most = *std::max_element(worth.begin(), worth.end());
    if (most <= most_) return;
    most_ = most;
    for (std::size_t i = 0; i < batches.size(); ++i)
      if (worth[i] >= as_good * most) best_ = {commit, batches[i]};
  }

  const FailureData& data_;
  const std::vector<FailureHypothesis>& hypotheses_;
  const SearchLog& log_;
  const SearchPolicy& policy_;
  FailureChoice best_;
  double most_ = 0;
};

}  // namespace

FailureChoice choose_failure_run(const FailureData& data,
                                 const std::vector<FailureHypothesis>& hypotheses,
                                 const SearchLog& log, const SearchPolicy& policy) {
  return FailureChooser(data, hypotheses, log, policy)();
}

}  // namespace nightjar::bisect::search
