// Chooses the measurement with the most information per cost, over builds, sessions and numbers of
// runs.
#include <algorithm>

#include "bisect/search/candidates.hpp"
#include "bisect/search/decide.hpp"
#include "bisect/search/isolation.hpp"
#include "storage/base/foreign_number.hpp"

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
  // Bits that `runs` runs give (pairwise-distance estimate of the mutual information).
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

// A commit on a wheel, as the log numbers it; -1: a builder's, or wheels play no part.
struct Spot {
  int commit = -1, wheel = -1;
};

struct Choice {
  double score = 0, bits = 0;
  Spot spot;
  int runs = 1;
  bool fresh = false;

  void improve(const Choice& other) {
    if (other.score > score) *this = other;
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

  Chosen best() {
    const bool room = data_.in_session < policy_.session_runs;
    for (const bool fresh : {false, true}) {
      if (!fresh && !room) continue;
      for (int build = 0; build < data_.builds(); ++build) consider_build(build, fresh);
    }
    consider_gaps(may_build(posterior_));
    if (!data_.wheels.empty()) consider_bridges(may_build(posterior_));
    if (best_.spot.commit < 0) return {ends_again(!room), 0};
    if (!readiness_.is_known() || !readiness_.needs_builder(best_.spot.commit))
      return {batch_of(best_), best_.bits};
    return {filler().value_or(batch_of(best_)), best_.bits};
  }

 private:
  // No measurement gives information.
  Measure ends_again(bool fresh) const {
    Measure out;
    out.new_session = fresh;
    out.order = {0, data_.commits.back(), data_.commits.back(), 0};
    if (log_.origins.empty()) return out;
    for (const int commit : out.order) out.wheels.push_back(usual_wheel_of(commit, data_, log_));
    return out;
  }

  Measure batch_of(const Choice& choice) const {
    Measure out;
    out.new_session = choice.fresh;
    const int batch = std::max((choice.runs + 2) / 3, data_.runs() / 40);
    int runs = std::min(batch, largest_batch(posterior_));
    if (!choice.fresh) runs = std::min(runs, policy_.session_runs - data_.in_session);
    out.order.assign(static_cast<std::size_t>(std::max(1, runs)), choice.spot.commit);
    if (!log_.origins.empty()) out.wheels.assign(out.order.size(), choice.spot.wheel);
    return out;
  }

  // What to measure during the wait for the best commit's build; nullopt: nothing worth its cost.
  std::optional<Measure> filler() const {
    if (best_ready_.score < filler_share * best_.score) return std::nullopt;
    const double before = readiness_.preparation(best_ready_.spot.commit) +
                          (best_ready_.fresh ? policy_.session_cost : 0);
    const double time = readiness_.wait(best_.spot.commit) - before;
    if (time < 1) return std::nullopt;
    Measure out = batch_of(best_ready_);
    if (static_cast<double>(out.order.size()) > time)
      out.order.resize(clamped_integer<std::size_t>(time));
    if (!out.wheels.empty()) out.wheels.resize(out.order.size());
    if (!readiness_.is_being_built(best_.spot.commit)) out.build_too = {best_.spot.commit};
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
    const auto [rank, wheel, number] = data_.measured[static_cast<std::size_t>(build)];
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const Fit& fit = *kept_[i];
      expect.add(share_[i], fit.level(rank) + fit.wheel_effect(wheel) + session_mean(fit, fresh) +
                                fit.layout[static_cast<std::size_t>(build)]);
    }
    const auto [low, high] = std::minmax_element(expect.mean.begin(), expect.mean.end());
    if (*high - *low < 1e-4) return;
    expect.variance =
        variance(*kept_[0], measured_row(*kept_[0], data_, posterior_.noise, build, fresh));
    consider({data_.commits[static_cast<std::size_t>(rank)], number}, fresh, expect,
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
        for (const Candidate& one : find(gap, left, here)) {
          if (log_.origins.empty())
            consider_commit(one, gap, -1);
          else
            for (const int wheel : wheels_for(one.commit, gap, data_, log_))
              consider_commit(one, gap, wheel);
        }
      }
      left += here;
    }
  }

  WheelChoice choice_of(int number) const {
    if (data_.wheels.empty()) return {};
    if (const int known = data_.wheel_index(number); known >= 0) return {known, -1};
    return {-1, number < 0 ? log_.builder_origin : log_.origins[static_cast<std::size_t>(number)]};
  }

  // Measured commits on further wheels, which shows how the wheels differ.
  void consider_bridges(bool builds_too) {
    for (int rank = 0; rank <= data_.gaps(); ++rank)
      for (const int number : bridges_at(rank, data_, log_))
        if (number >= 0 || builds_too) consider_bridge(rank, number);
  }

  void consider_bridge(int rank, int number) {
    const int commit = data_.commits[static_cast<std::size_t>(rank)];
    const WheelChoice wheel = choice_of(number);
    const bool waits = number < 0;
    const double ready =
        readiness_.is_known() ? readiness_.another_build(waits) : policy_.build_cost;
    const bool room = data_.in_session < policy_.session_runs;
    for (const bool fresh : {false, true}) {
      if (!fresh && (!room || (waits && policy_.build_ends_session))) continue;
      Expectations expect;
      for (std::size_t i = 0; i < kept_.size(); ++i)
        expect.add(share_[i], fit_mean(*kept_[i], rank, wheel, fresh));
      const auto [low, high] = std::minmax_element(expect.mean.begin(), expect.mean.end());
      if (*high - *low < 1e-4) continue;
      expect.variance =
          variance(*kept_[0], new_row(*kept_[0], data_, posterior_.noise, rank, wheel, fresh));
      consider({commit, number}, fresh, expect, ready + (fresh ? policy_.session_cost : 0));
    }
  }

  double fit_mean(const Fit& fit, double rank, WheelChoice wheel, bool fresh) const {
    return fit.level(rank) + expected_effect(fit, data_, posterior_.noise, wheel) +
           session_mean(fit, fresh);
  }

  void consider_commit(const Candidate& candidate, int gap, int number) {
    const WheelChoice wheel = choice_of(number);
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
        if (is_placed(fit.hypothesis, gap)) {
          expect.add(share_[i] * below, fit_mean(fit, gap + 1, wheel, fresh));
          expect.add(share_[i] * (1 - below), fit_mean(fit, gap, wheel, fresh));
        } else {
          expect.add(share_[i], fit_mean(fit, gap + .5, wheel, fresh));
        }
      }
      expect.variance =
          variance(*kept_[0], new_row(*kept_[0], data_, posterior_.noise, gap + .5, wheel, fresh));
      const double session_cost = fresh ? policy_.session_cost : 0;
      // While it waits for a builder, or for a build of unknown cost, the search begins a session.
      const bool overlaps = waits || !readiness_.is_known();
      consider({commit, number}, fresh, expect,
               overlaps ? std::max(ready, session_cost) : ready + session_cost);
    }
  }

  void consider(Spot spot, bool fresh, const Expectations& expect, double cost) {
    double last = -1;
    for (const int runs : run_counts) {
      const double bits = expect.bits(run_variance_, runs);
      const double score = bits / (cost + runs);
      const Choice choice{score, bits, spot, runs, fresh};
      best_.improve(choice);
      if (readiness_.is_known() && !readiness_.needs_builder(spot.commit))
        best_ready_.improve(choice);
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
  return posterior.nothing + (ends_differ(posterior) ? 0 : posterior.too_small) < build_below ||
         ends_are_apart(posterior);
}

int largest_batch(const Posterior& posterior) {
  return std::sqrt(posterior.noise.run) <= .035 ? 12 : 24;
}

Chosen choose(const Posterior& posterior, const Claim& claim, const SearchLog& log,
              const SearchPolicy& policy) {
  return Chooser(posterior, claim, log, policy).best();
}

}  // namespace nightjar::bisect::search
