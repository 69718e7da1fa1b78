// Chooses the measurement with the most information per cost, over builds, sessions and numbers of
// runs.
#include <algorithm>

#include "bisect/search/candidates.hpp"
#include "bisect/search/decide.hpp"

namespace nightjar::bisect::search {
namespace {

constexpr std::array run_counts = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
constexpr std::size_t most_hypotheses = 14;
constexpr double least_share = 5e-4;
constexpr double summary_loss = 1.15;  // variance of a robust summary against a mean's
// While a build is waited for, the machine is idle. A measurement of ready commits fills the time
// if it gives this share of the information per run that waiting gives.
constexpr double filler_share = .25;

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

struct Choice {
  double score = 0;
  int commit = -1, runs = 1;
  bool fresh = false;

  void improve(double other_score, int other_commit, int other_runs, bool other_fresh) {
    if (other_score > score) *this = {other_score, other_commit, other_runs, other_fresh};
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
        readiness_(log, policy),
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
    consider_gaps(may_build(posterior_));
    if (best_.commit < 0) {  // no measurement gives information: repeat the ends
      return {!room, false, {0, data_.commits.back(), data_.commits.back(), 0}, {}, {}, {}};
    }
    if (!readiness_.is_known() || !readiness_.needs_builder(best_.commit)) return batch_of(best_);
    return filler().value_or(batch_of(best_));
  }

 private:
  Measure batch_of(const Choice& choice) const {
    Measure out;
    out.new_session = choice.fresh;
    const int batch = std::max((choice.runs + 2) / 3, data_.runs() / 40);
    int runs = std::min(batch, largest_batch(posterior_));
    if (!choice.fresh) runs = std::min(runs, policy_.session_runs - data_.in_session);
    out.order.assign(static_cast<std::size_t>(std::max(1, runs)), choice.commit);
    return out;
  }

  // What to measure while the best commit's build is waited for; nullopt: nothing that is worth it.
  std::optional<Measure> filler() const {
    if (best_ready_.score < filler_share * best_.score) return std::nullopt;
    const double before =
        readiness_.preparation(best_ready_.commit) + (best_ready_.fresh ? policy_.session_cost : 0);
    const double time = readiness_.wait(best_.commit) - before;
    if (time < 1) return std::nullopt;
    Measure out = batch_of(best_ready_);
    if (static_cast<double>(out.order.size()) > time)
      out.order.resize(static_cast<std::size_t>(time));
    if (!readiness_.is_being_built(best_.commit)) out.build_too = {best_.commit};
    return out;
  }

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
  // posterior median; with costs, also cheaper ones.
  void consider_gaps(bool builds_too) {
    const CandidateFinder find(data_, log_, readiness_, builds_too);
    double left = 0;
    for (int gap = 0; gap < data_.gaps(); ++gap) {
      double here = 0;
      for (std::size_t i = 0; i < kept_.size(); ++i) {
        if (is_placed(kept_[i]->hypothesis, gap)) {
          here += share_[i];
        }
      }
      if (here > .01) {
        for (const Candidate& one : find(gap, left, here)) consider_commit(one, gap);
      }
      left += here;
    }
  }

  void consider_commit(const Candidate& candidate, int gap) {
    const auto [commit, below] = candidate;
    const bool waits = needs_build(commit, log_, readiness_);
    const double ready = readiness_.is_known() ? readiness_.until_ready(commit)
                         : waits               ? policy_.build_cost
                                               : 0;
    const bool room = data_.in_session < policy_.session_runs;
    for (const bool fresh : {false, true}) {
      if (!fresh && (!room || (waits && policy_.build_ends_session))) continue;
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
      // Who waits for a builder, or for a build of unknown cost, begins a session meanwhile.
      const bool overlaps = waits || !readiness_.is_known();
      consider(commit, fresh, expect,
               overlaps ? std::max(ready, session_cost) : ready + session_cost);
    }
  }

  void consider(int commit, bool fresh, const Expectations& expect, double cost) {
    double last = -1;
    for (const int runs : run_counts) {
      const double bits = expect.bits(run_variance_, runs);
      const double score = bits / (cost + runs);
      best_.improve(score, commit, runs, fresh);
      if (readiness_.is_known() && !readiness_.needs_builder(commit))
        best_ready_.improve(score, commit, runs, fresh);
      if (score < last) break;
      last = score;
    }
  }

  const Posterior& posterior_;
  const Data& data_;
  const SearchLog& log_;
  const SearchPolicy& policy_;
  const Readiness readiness_;
  double run_variance_;
  // The ends certainly differ. Then a small step is worth a build too, since only more builds show
  // whether their layouts explain it.
  bool small_counts_;
  std::vector<const Fit*> kept_;
  std::vector<double> share_;
  Choice best_;
  Choice best_ready_;  // of those that need no builder; with costs only
};

}  // namespace

bool may_build(const Posterior& posterior) {
  constexpr double build_below = .05;  // P(nothing) under which a build is worth its cost
  return posterior.nothing + (ends_differ(posterior) ? 0 : posterior.too_small) < build_below;
}

int largest_batch(const Posterior& posterior) {
  return std::sqrt(posterior.noise.run) <= .035 ? 12 : 24;
}

Measure choose(const Posterior& posterior, const Claim& claim, const SearchLog& log,
               const SearchPolicy& policy) {
  return Chooser(posterior, claim, log, policy).best();
}

}  // namespace nightjar::bisect::search
