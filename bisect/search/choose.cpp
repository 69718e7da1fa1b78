// Chooses the measurement with the most information per cost, over builds, sessions and numbers of
// runs.
#include <algorithm>

#include "bisect/search/decide.hpp"

namespace nightjar::bisect::search {
namespace {

constexpr std::array run_counts = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
constexpr std::size_t most_hypotheses = 14;
constexpr double least_share = 5e-4;
constexpr double summary_loss = 1.15;  // variance of a robust summary against a mean's
constexpr double build_below = .05;    // P(nothing) under which a build is worth its cost

// The value that each hypothesis expects of one measurement, with its probability.
struct Expectations {
  std::vector<double> share, mean;
  double variance = 0;

  void add(double p, double m) {
    share.push_back(p);
    mean.push_back(m);
  }
  // Bits that so many runs give (pairwise-distance estimate of the mutual information).
  double bits(double run_variance, int runs) const {
    const double scale = -.25 / (variance + run_variance / runs);
    const std::size_t n = share.size();
    std::vector<double> z(share);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const double d = mean[a] - mean[b];
        const double like = std::exp(scale * d * d);
        z[a] += share[b] * like;
        z[b] += share[a] * like;
      }
    }
    double sum = 0;
    for (std::size_t a = 0; a < n; ++a) sum -= share[a] * std::log2(z[a]);
    return sum;
  }
};

class Chooser {
 public:
  Chooser(const Posterior& posterior, const Claim& claim, const SearchLog& log,
          const SearchPolicy& policy)
      : posterior_(posterior),
        data_(posterior.data),
        log_(log),
        policy_(policy),
        run_variance_(posterior.noise.run * summary_loss),
        small_counts_(ends_differ(posterior)) {
    weigh(claim);
  }

  Measure best() {
    const bool room = data_.in_session < policy_.session_runs;
    for (const bool fresh : {false, true}) {
      if (!fresh && !room) continue;
      for (int build = 0; build < data_.builds(); ++build) consider_build(build, fresh);
    }
    const double idle = posterior_.nothing + (small_counts_ ? 0 : posterior_.too_small);
    consider_gaps(idle < build_below);
    if (best_commit_ < 0) {  // no measurement gives information: repeat the ends
      return {!room, false, {0, data_.commits.back(), data_.commits.back(), 0}, {}};
    }
    Measure out;
    out.new_session = best_fresh_;
    const int batch = std::max((best_runs_ + 2) / 3, data_.runs() / 40);
    int runs = std::min(batch, largest_batch(posterior_));
    if (!best_fresh_) runs = std::min(runs, policy_.session_runs - data_.in_session);
    out.order.assign(static_cast<std::size_t>(std::max(1, runs)), best_commit_);
    return out;
  }

 private:
  // Keeps the most probable hypotheses. A strict superset of the claim counts by the chance that
  // its extra step matters.
  void weigh(const Claim& claim) {
    const std::vector<double> all = weights(claim);
    double sum = 0;
    for (std::size_t i = 0; i < all.size() && kept_.size() < most_hypotheses; ++i) {
      if (all[i] <= least_share) continue;
      kept_.push_back(&posterior_.fits[i]);
      share_.push_back(all[i]);
      sum += all[i];
    }
    for (double& share : share_) share /= sum;
  }

  std::vector<double> weights(const Claim& claim) const {
    std::vector<double> out = posterior_.share;
    double sum = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Fit& fit = posterior_.fits[i];
      const Hypothesis& h = fit.hypothesis;
      const bool superset =
          static_cast<int>(i) != claim.fit && h.kind == Kind::steps &&
          h.count > static_cast<int>(claim.gaps.size()) &&
          std::all_of(claim.gaps.begin(), claim.gaps.end(), [&](int g) { return h.has(g); });
      if (superset) {
        double alone = 1;
        for (std::size_t k = 0; k < static_cast<std::size_t>(h.count); ++k) {
          const bool claimed =
              std::find(claim.gaps.begin(), claim.gaps.end(), h.gaps[k]) != claim.gaps.end();
          if (!claimed) alone *= 1 - fit.relevant[k];
        }
        out[i] *= std::max(1 - alone, .02);
      }
      sum += out[i];
    }
    for (double& share : out) share /= sum;
    return out;
  }

  bool is_placed(const Hypothesis& h, int gap) const {
    return (h.kind == Kind::steps || (small_counts_ && h.kind == Kind::small)) && h.has(gap);
  }

  double session_mean(const Fit& fit, bool fresh) const {
    return (fresh ? session_correlation : 1) * fit.theta[fit.session_at(data_.sessions - 1)];
  }

  void consider_build(int build, bool fresh) {
    Expectations expect;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const Fit& fit = *kept_[i];
      expect.add(share_[i], fit.level(build) + session_mean(fit, fresh) +
                                fit.layout[static_cast<std::size_t>(build)]);
    }
    const auto [low, high] = std::minmax_element(expect.mean.begin(), expect.mean.end());
    if (*high - *low < 1e-4) return;
    expect.variance =
        variance(*kept_[0], prediction_row(*kept_[0], data_, posterior_.noise, build, true, fresh));
    consider(data_.commits[static_cast<std::size_t>(build)], fresh, expect,
             fresh ? policy_.session_cost : 0);
  }

  // Considers commits not measured yet: in each gap that may hold a step, its midpoint and the
  // posterior median.
  void consider_gaps(bool may_build) {
    double left = 0;
    for (int gap = 0; gap < data_.gaps(); ++gap) {
      double here = 0;
      for (std::size_t i = 0; i < kept_.size(); ++i) {
        if (is_placed(kept_[i]->hypothesis, gap)) {
          here += share_[i];
        }
      }
      if (here > .01) {
        for (const auto& [commit, below] : candidates(gap, left, here, may_build)) {
          consider_commit(commit, gap, below);
        }
      }
      left += here;
    }
  }

  // Each commit with the share of the gap's mass at or below it.
  std::vector<std::pair<int, double>> candidates(int gap, double left, double here,
                                                 bool may_build) const {
    const int from = data_.commits[static_cast<std::size_t>(gap)];
    const int to = data_.commits[static_cast<std::size_t>(gap) + 1];
    std::vector<std::pair<int, double>> usable;
    double all = 0, below = 0;
    for (int commit = from + 1; commit <= to; ++commit) all += mass(commit);
    for (int commit = from + 1; commit < to; ++commit) {
      below += mass(commit);
      if (contains(log_.untestable, commit)) continue;
      if (!may_build && !contains(log_.built, commit)) continue;
      usable.emplace_back(commit, all > 0 ? below / all : .5);
    }
    std::vector<std::pair<int, double>> out;
    auto nearest = [&](auto distance) {
      const auto it = std::min_element(
          usable.begin(), usable.end(),
          [&](const auto& a, const auto& b) { return distance(a.second) < distance(b.second); });
      if (it != usable.end() && std::find(out.begin(), out.end(), *it) == out.end()) {
        out.push_back(*it);
      }
    };
    nearest([](double f) { return std::abs(f - .5); });
    nearest([&](double f) { return std::abs(left + here * f - .5); });
    return out;
  }

  void consider_commit(int commit, int gap, double below) {
    const bool built = contains(log_.built, commit);
    const bool room = data_.in_session < policy_.session_runs;
    for (const bool fresh : {false, true}) {
      if (!fresh && (!room || (!built && policy_.build_ends_session))) continue;
      Expectations expect;
      for (std::size_t i = 0; i < kept_.size(); ++i) {
        const Fit& fit = *kept_[i];
        const double session = session_mean(fit, fresh);
        if (is_placed(fit.hypothesis, gap)) {
          expect.add(share_[i] * below, fit.level(gap + 1) + session);
          expect.add(share_[i] * (1 - below), fit.level(gap) + session);
        } else {
          expect.add(share_[i], fit.level(gap + .5) + session);
        }
      }
      expect.variance = variance(
          *kept_[0], prediction_row(*kept_[0], data_, posterior_.noise, gap + .5, false, fresh));
      const double session_cost = fresh ? policy_.session_cost : 0;
      consider(commit, fresh, expect,
               built ? session_cost : std::max(policy_.build_cost, session_cost));
    }
  }

  void consider(int commit, bool fresh, const Expectations& expect, double cost) {
    double last = -1;
    for (const int runs : run_counts) {
      const double bits = expect.bits(run_variance_, runs);
      const double score = bits / (cost + runs);
      if (score > best_score_) {
        best_score_ = score;
        best_commit_ = commit;
        best_fresh_ = fresh;
        best_runs_ = runs;
      }
      if (score < last) break;
      last = score;
    }
  }

  double mass(int commit) const {
    return log_.prior.empty() ? 1 : log_.prior[static_cast<std::size_t>(commit) - 1];
  }
  static bool contains(const std::vector<int>& commits, int commit) {
    return std::find(commits.begin(), commits.end(), commit) != commits.end();
  }

  const Posterior& posterior_;
  const Data& data_;
  const SearchLog& log_;
  const SearchPolicy& policy_;
  double run_variance_;
  // The ends certainly differ. Then a small step is worth a build too, since only more builds show
  // whether their layouts explain it.
  bool small_counts_;
  std::vector<const Fit*> kept_;
  std::vector<double> share_;
  double best_score_ = 0;
  int best_commit_ = -1, best_runs_ = 1;
  bool best_fresh_ = false;
};

}  // namespace

int largest_batch(const Posterior& posterior) {
  return std::sqrt(posterior.noise.run) <= .035 ? 12 : 24;
}

Measure choose(const Posterior& posterior, const Claim& claim, const SearchLog& log,
               const SearchPolicy& policy) {
  return Chooser(posterior, claim, log, policy).best();
}

}  // namespace nightjar::bisect::search
