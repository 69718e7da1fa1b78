// Confirmation of a named step from fresh sessions alone.
#include <algorithm>

#include "bisect/search/decide.hpp"
#include "bisect/statistics.hpp"

namespace nightjar::bisect::search {
namespace {

constexpr double wanted_z = 3.0;   // the expected shift over its error
constexpr double stricter_z = 4.2;  // once the first runs speak against it
constexpr int fewest_runs = 3;
constexpr double median_loss = 1.1;  // variance of a median of pairs against a mean's

// The runs of `build` in `session`, as logs; empty: none.
std::span<const double> runs_in(const Data& data, int build, int session) {
  const auto at = static_cast<std::size_t>(build);
  for (int b = data.build_blocks[at]; b < data.build_blocks[at + 1]; ++b) {
    const Block& block = data.blocks[static_cast<std::size_t>(b)];
    if (block.session == session) {
      return std::span(data.y).subspan(static_cast<std::size_t>(block.first),
                                       static_cast<std::size_t>(block.count));
    }
  }
  return {};
}

int first_session(const Data& data, int build) {
  const int block = data.build_blocks[static_cast<std::size_t>(build)];
  return data.blocks[static_cast<std::size_t>(block)].session;
}

// Median of the differences of all pairs.
double difference(std::span<const double> before, std::span<const double> after) {
  std::vector<double> all;
  for (double a : before) {
    for (double b : after) all.push_back(b - a);
  }
  return median(all);
}

int runs_for(double z, double size, double run_variance) {
  const double runs = 2 * median_loss * run_variance * z * z / (size * size);
  return std::max(fewest_runs, static_cast<int>(std::ceil(std::min(runs, 1e4) - 1e-9)));
}

}  // namespace

Check check_step(int gap, double size, const Posterior& posterior) {
  const Data& data = posterior.data;
  Check out;
  out.fresh_after = std::max(first_session(data, gap), first_session(data, gap + 1));
  double precision = 0, sum = 0;
  int good_runs = 0, bad_runs = 0;
  for (int session = out.fresh_after + 1; session < data.sessions; ++session) {
    const auto good = runs_in(data, gap, session), bad = runs_in(data, gap + 1, session);
    if (good.empty() || bad.empty()) continue;
    const double weight = 1 / (1.0 / static_cast<double>(good.size()) +
                               1.0 / static_cast<double>(bad.size()));
    precision += weight;
    sum += weight * difference(good, bad);
    good_runs += static_cast<int>(good.size());
    bad_runs += static_cast<int>(bad.size());
  }
  const int fewer = std::min(good_runs, bad_runs);
  // `precision` is half the runs a side when both sides are equal.
  const int equal_runs = static_cast<int>(std::floor(2 * precision + 1e-9));
  const int wanted = runs_for(wanted_z, size, posterior.noise.run);
  const bool against = precision > 0 && sum / precision < size / 2;
  const int needed = against && equal_runs >= wanted
                         ? runs_for(stricter_z, size, posterior.noise.run)
                         : wanted;
  if (equal_runs >= needed && fewer >= fewest_runs) {
    (against ? out.failed : out.passed) = true;
  } else {
    out.missing = std::max(1, needed - equal_runs);
  }
  return out;
}

std::optional<Measure> confirmation(const Claim& claim, const Posterior& posterior,
                                    const SearchPolicy& policy) {
  const Data& data = posterior.data;
  const Fit& fit = posterior.fits[static_cast<std::size_t>(claim.fit)];
  Measure out;
  out.confirms = true;
  std::vector<std::pair<int, int>> wanted;  // gap, runs a side
  for (int k = 0; k < fit.hypothesis.count; ++k) {
    const int gap = fit.hypothesis.gaps[static_cast<std::size_t>(k)];
    if (std::find(claim.gaps.begin(), claim.gaps.end(), gap) == claim.gaps.end()) continue;
    const Check check = check_step(gap, fit.step(k), posterior);
    if (check.missing == 0) continue;
    wanted.emplace_back(gap, check.missing);
    if (check.fresh_after >= data.sessions - 1) out.new_session = true;
  }
  if (wanted.empty()) return std::nullopt;
  const int limit = std::min(largest_batch(posterior), policy.session_runs);
  if (!out.new_session && data.in_session + 2 > policy.session_runs) out.new_session = true;
  const int room = out.new_session ? limit : std::min(limit, policy.session_runs - data.in_session);
  for (bool more = true; more;) {
    more = false;
    for (auto& [gap, runs] : wanted) {
      if (runs == 0 || static_cast<int>(out.order.size()) + 2 > std::max(room, 2)) continue;
      // Sides change places, so that a drift within the session does not favour one.
      const bool turned = runs % 2 == 0;
      out.order.push_back(data.commits[static_cast<std::size_t>(turned ? gap + 1 : gap)]);
      out.order.push_back(data.commits[static_cast<std::size_t>(turned ? gap : gap + 1)]);
      --runs;
      more = true;
    }
  }
  return out;
}

}  // namespace nightjar::bisect::search
