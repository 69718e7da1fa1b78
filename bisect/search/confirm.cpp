// Confirms a named step by the same model, from the runs of fresh sessions alone.
#include <algorithm>
#include <cmath>
#include <span>

#include "bisect/search/decide.hpp"
#include "bisect/search/isolation.hpp"
#include "bisect/statistics.hpp"
#include "storage/base/foreign_number.hpp"

namespace nightjar::bisect::search {
namespace {

// Fresh runs are judged for the first time when the claimed shift is this many standard errors.
constexpr double first_z = 1.55;
// Nats for the claimed step from fresh runs alone: odds of 7 to 1. They are nearly a likelihood
// ratio, so that a false step passes at most once in exp(odds_to_pass) times, however often tested.
constexpr double odds_to_pass = 2;
constexpr double least_shift = .33;  // of the claimed step, in the median difference of fresh runs
constexpr int fewest_runs = 3;
constexpr double much_more = 1.5;    // times the expected sd of fresh runs is no chance
constexpr double robust_loss = 1.1;  // variance of a robust location against a mean's

// The first session that measured the commit of this rank, on whatever wheel.
int first_session(const Data& data, int rank) {
  int first = data.sessions;
  for (std::size_t build = 0; build < data.measured.size(); ++build) {
    if (data.measured[build].rank != rank) continue;
    const auto block = static_cast<std::size_t>(data.build_blocks[build]);
    first = std::min(first, data.blocks[block].session);
  }
  return first;
}

// The runs of both builds beside a gap, in the sessions after `session` that have both. What is
// known of the difference of their wheels is taken off.
Data fresh_runs(const Data& data, int gap, int session, const Sides& sides) {
  Data out;
  out.first_sd = data.first_sd;
  out.outlier_sd = data.outlier_sd;
  out.end_change = data.end_change;
  out.mass = {1};
  std::vector<int> present(static_cast<std::size_t>(data.sessions));  // bits: 1 good, 2 bad
  auto each_block = [&](int side, auto&& act) {
    for (const Block& block : data.blocks) {
      const auto& [rank, wheel, number] = data.measured[static_cast<std::size_t>(block.build)];
      const bool is_side = rank == gap + side && number == (side == 0 ? sides.good : sides.bad);
      if (is_side && block.session > session) act(block);
    }
  };
  for (const int side : {0, 1}) {
    each_block(side, [&](const Block& block) {
      present[static_cast<std::size_t>(block.session)] += side + 1;
    });
  }
  std::vector<int> index(present.size(), -1);
  for (std::size_t t = 0; t < present.size(); ++t) {
    if (present[t] == 3) index[t] = out.sessions++;
  }
  for (const int side : {0, 1}) {
    out.commits.push_back(side);
    out.measured.push_back({side});
    out.build_blocks.push_back(static_cast<int>(out.blocks.size()));
    each_block(side, [&](const Block& block) {
      const int to = index[static_cast<std::size_t>(block.session)];
      if (to < 0) return;
      out.blocks.push_back({to, side, out.runs(), block.count});
      const auto from = data.y.begin() + block.first;
      for (auto y = from; y != from + block.count; ++y)
        out.y.push_back(side == 0 ? *y : *y - sides.difference);
    });
  }
  out.build_blocks.push_back(static_cast<int>(out.blocks.size()));
  if (out.sessions == 0) return out;
  // The level's prior is centred on 0. Far above it, behind another large step, the model would
  // call the good side's runs outliers of a lower level, and so find a step that is not there.
  const auto first_bad =
      static_cast<std::size_t>(out.blocks[static_cast<std::size_t>(out.build_blocks[1])].first);
  const double level = median(std::span(out.y).first(first_bad));
  for (double& y : out.y) y -= level;
  guess_outliers(out);
  return out;
}

// The number of runs a side with equal power: the sum over sessions of 2 / (1/good + 1/bad).
double runs_a_side(const Data& fresh) {
  std::vector<std::array<double, 2>> counts(static_cast<std::size_t>(fresh.sessions));
  for (const Block& block : fresh.blocks) {
    counts[static_cast<std::size_t>(block.session)][static_cast<std::size_t>(block.build)] =
        block.count;
  }
  double sum = 0;
  for (const auto& [good, bad] : counts) sum += 2 / (1 / good + 1 / bad);
  return sum;
}

// Median of the differences between runs of both sides within a session. It needs no model of
// outliers.
double median_shift(const Data& fresh) {
  std::vector<double> shifts;
  for (const Block& good : fresh.blocks) {
    for (const Block& bad : fresh.blocks) {
      if (good.build != 0 || bad.build != 1 || good.session != bad.session) continue;
      for (int i = good.first; i < good.first + good.count; ++i) {
        for (int j = bad.first; j < bad.first + bad.count; ++j) {
          shifts.push_back(fresh.y[static_cast<std::size_t>(j)] -
                           fresh.y[static_cast<std::size_t>(i)]);
        }
      }
    }
  }
  return median(shifts);
}

// Sd of runs around their block's level, from the median difference of pairs. It needs neither the
// level nor a model of outliers. It shows when a machine's speed wanders during the confirmation.
double scatter(const Data& fresh) {
  constexpr double of_a_pair = .954;  // median |x - y| of two normal values with sd 1
  std::vector<double> pairs;
  for (const Block& block : fresh.blocks)
    for (int i = block.first; i < block.first + block.count; ++i)
      for (int j = block.first; j < i; ++j)
        pairs.push_back(
            std::abs(fresh.y[static_cast<std::size_t>(i)] - fresh.y[static_cast<std::size_t>(j)]));
  return pairs.empty() ? 0 : median(pairs) / of_a_pair;
}

// Log odds of a step in `fresh` against none, or one too small to matter.
double log_odds(const Data& fresh, const Noise& noise) {
  auto evidence = [&](Kind kind, int count) {
    const Hypothesis hypothesis{kind, count, {0}};
    return fit(hypothesis, fresh, noise, fresh.outlying).log_posterior -
           log_prior(hypothesis, fresh);
  };
  return evidence(Kind::steps, 1) - std::max(evidence(Kind::nothing, 0), evidence(Kind::small, 1));
}

}  // namespace

Check check_step(int gap, double size, const Posterior& posterior, const SearchLog& log) {
  const Data& data = posterior.data;
  Check out;
  out.fresh_after = std::max(first_session(data, gap), first_session(data, gap + 1));
  const double relevant = std::max(size, least_step);
  const double ideal =
      2 * robust_loss * posterior.noise.run * first_z * first_z / (relevant * relevant);
  const int wanted = clamped_integer<int>(std::ceil(ideal - 1e-9), fewest_runs);
  Data fresh = fresh_runs(data, gap, out.fresh_after, sides_of(gap, relevant, posterior, log));
  fresh.claimed = relevant;
  const int have = clamped_integer<int>(runs_a_side(fresh) + 1e-9);
  if (have < wanted) {
    out.missing = wanted - have;
    return out;
  }
  Noise noise = cautious(posterior.noise, data);
  const double sd = scatter(fresh);
  if (sd * sd > much_more * much_more * noise.run) noise.run = sd * sd;
  const double odds = log_odds(fresh, noise);
  out.passed = odds >= odds_to_pass + std::log(data.searches) &&
               median_shift(fresh) >= least_shift * relevant;
  if (out.passed) return out;
  out.missing = std::max(2, have / 3);
  // Fresh runs that speak against the step are repeated at another time.
  if (odds < 0) out.again_in_new_session = true;
  return out;
}

std::optional<Measure> confirmation(const Claim& claim, const Posterior& posterior,
                                    const SearchLog& log, const SearchPolicy& policy) {
  const Data& data = posterior.data;
  const Fit& fit = posterior.fits[static_cast<std::size_t>(claim.fit)];
  Measure out;
  out.confirms = true;
  struct Wanted {
    int gap = 0, runs = 0;  // a side
    Sides sides;
  };
  std::vector<Wanted> wanted;
  for (int k = 0; k < fit.hypothesis.count; ++k) {
    const int gap = fit.hypothesis.gaps[static_cast<std::size_t>(k)];
    if (!claim.has(gap)) continue;
    const Check check = check_step(gap, fit.step(k), posterior, log);
    if (check.passed) continue;
    const double size = std::max(fit.step(k), least_step);
    wanted.push_back({gap, check.missing, sides_of(gap, size, posterior, log)});
    if (check.again_in_new_session || check.fresh_after >= data.sessions - 1)
      out.new_session = true;
  }
  if (wanted.empty()) return std::nullopt;
  const int limit = std::min(largest_batch(posterior), policy.session_runs);
  if (!out.new_session && data.in_session + 2 > policy.session_runs) out.new_session = true;
  const int room = out.new_session ? limit : std::min(limit, policy.session_runs - data.in_session);
  for (bool more = true; more;) {
    more = false;
    for (auto& [gap, runs, sides] : wanted) {
      if (runs == 0 || static_cast<int>(out.order.size()) + 2 > std::max(room, 2)) continue;
      // The sides alternate in going first, so that a drift within the session favours neither.
      const bool turned = runs % 2 == 0;
      for (const bool bad : {turned, !turned}) {
        out.order.push_back(data.commits[static_cast<std::size_t>(bad ? gap + 1 : gap)]);
        if (!log.origins.empty()) out.wheels.push_back(bad ? sides.bad : sides.good);
      }
      --runs;
      more = true;
    }
  }
  return out;
}

}  // namespace nightjar::bisect::search
